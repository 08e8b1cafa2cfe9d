"""What a server asks for when it refuses a request for want of credentials."""

from typing import NamedTuple


class Challenge(NamedTuple):
    status: int  # 401 or 403
    header: str  # WWW-Authenticate
    url: str
