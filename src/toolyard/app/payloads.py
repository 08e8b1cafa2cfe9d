"""The log of every message in and out, for debugging, if the settings ask for it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from toolyard.settings import Settings, secret_variables

if TYPE_CHECKING:
    from toolyard.transports.payloads import PayloadLog

PAYLOADS = "payload.debug.log"


def payload_log(settings: Settings) -> PayloadLog | None:
    if not settings.debug_payloads:
        return None
    # Imported only where it is asked for.
    from toolyard.transports.payloads import PayloadLog  # noqa: PLC0415

    secrets = {os.environ[name] for name in secret_variables() if name in os.environ}
    return PayloadLog(os.path.join(settings.log_dir, PAYLOADS), secrets | {settings.remote_token})
