from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, Protocol

import pytest

from tests.scripting.yard import Yard, make_yard


class MakeYard(Protocol):
    def __call__(self, **settings: Any) -> Yard: ...


@pytest.fixture
async def a_yard(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[MakeYard]:
    """Make a yard with settings of one's own; it is closed, and must leave nothing.

    The tests are in its folder, as a server of one project is: scripts start the fast way.
    """
    made: list[Yard] = []
    complaints: list[object] = []
    loop = asyncio.get_running_loop()
    loop.set_exception_handler(lambda _, context: complaints.append(context))

    def make(**settings: Any) -> Yard:
        root = tmp_path.resolve() / f"project{len(made)}"
        root.mkdir()
        monkeypatch.chdir(root)
        made.append(make_yard(root, settings))
        return made[-1]

    yield make
    for yard in made:
        await yard.runner.close()
        assert yard.run_folders == []
    assert complaints == []


@pytest.fixture
def yard(a_yard: MakeYard) -> Yard:
    return a_yard()
