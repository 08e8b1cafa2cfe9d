"""What can go wrong on the way to a token. Each text is fit to be shown; none holds a secret."""

from __future__ import annotations


class OAuthError(Exception):
    """There is no token, and the text says why."""


class OAuthRefusal(OAuthError):
    """The authorization server said no, with an OAuth error code."""

    def __init__(self, code: str, description: str = "") -> None:
        code, description = _printable(code), _printable(description)
        super().__init__(f"{code}{': ' + description if description else ''}")
        self.code = code


def _printable(text: str) -> str:
    return "".join(char if " " <= char <= "~" else "?" for char in text)[:300]
