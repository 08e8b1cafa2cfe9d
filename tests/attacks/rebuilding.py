"""Scan a project and rebuild the catalog again and again; say how much memory that takes."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from pathlib import Path

from tests.attacks.memory import resident
from tests.project.conftest import Folder, runner_of, source_of
from toolyard.catalog.keeper import Keeper
from toolyard.http.serving.server import _spare_the_collector


async def main(root: Path, rounds: int) -> None:
    folder = Folder(root)
    for number in range(20):
        folder.tool(f"t{number}", {"description": "x" * 200})
    keeper = Keeper([source_of(folder, runner_of(root))])
    assert len(keeper.current.tools) == 20
    _spare_the_collector()
    sizes = []
    for number in range(rounds):
        folder.write("tools/t0/tool.meta.json", {"name": "t0", "description": f"{number}" * 20})
        changed = await keeper.refresh()
        assert changed == {"tools"}
        await keeper.catalog()
        if (number + 1) % (rounds // 5) == 0:
            sizes.append(resident(os.getpid()))
    print(json.dumps(sizes))


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), int(sys.argv[2])))
