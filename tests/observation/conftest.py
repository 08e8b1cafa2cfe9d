from __future__ import annotations

from pathlib import Path

import pytest

from tests.gateway.yard import Yard


@pytest.fixture
def yard(tmp_path: Path) -> Yard:
    return Yard(tmp_path)
