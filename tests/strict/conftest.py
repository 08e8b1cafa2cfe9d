from __future__ import annotations

from tests.gateway.conftest import published as published
