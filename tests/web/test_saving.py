"""A registry file that somebody else changes while the page saves it."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import pytest

from toolyard.app.page.registry_files import OnDisk
from toolyard.web.editing.registries import Stale, stamp


def test_what_an_operator_wrote_meanwhile_is_not_replaced(tmp_path: Path) -> None:
    path = tmp_path / "registry.json"
    path.write_text("{}")
    file = OnDisk(cast("Any", None), str(path))
    seen = stamp(file.read())
    path.write_text('{"tools": []}')
    with pytest.raises(Stale):
        file.save('{"schemas": {}}', seen)
    assert path.read_text() == '{"tools": []}'
    assert list(tmp_path.iterdir()) == [path]
    file.save('{"schemas": {}}', stamp(file.read()))
    assert path.read_text() == '{"schemas": {}}'
