"""A fresh exchange folder for each test."""

from pathlib import Path

import pytest

from tests.sdk.sandbox import Sandbox


@pytest.fixture
def sandbox(tmp_path: Path) -> Sandbox:
    folder = tmp_path / "exchange"
    folder.mkdir()
    return Sandbox(folder)
