"""Which files are run, and how it is said of those that are not."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.scripting.conftest import MakeYard
from tests.scripting.yard import Yard, run, text_of
from toolyard.errors import ToolError
from toolyard.scripts.running.run import ScriptSpec


async def refusal(yard: Yard, path: Path) -> str:
    with pytest.raises(ToolError) as raised:
        await run(yard.target(path))
    assert str(path) in raised.value.message
    return raised.value.message


async def test_a_script_without_a_first_line_is_run_by_a_shell(yard: Yard) -> None:
    path = yard.script("plain.sh", 'echo "${BASH_VERSION:+bash}"\n')
    assert text_of(await run(yard.target(path))) == "bash"


async def test_a_script_that_is_not_executable_is_run_by_its_interpreter(yard: Yard) -> None:
    path = yard.script("plain.py", "#!/usr/bin/env python3\nprint('python')\n", 0o644)
    assert text_of(await run(yard.target(path))) == "python"
    path = yard.script("plain.sh", "echo shell\n", 0o644)
    assert text_of(await run(yard.target(path))) == "shell"


async def test_a_missing_interpreter_is_named_with_its_file(yard: Yard) -> None:
    path = yard.script("odd", "#!/no/such/interpreter\n")
    assert "interpreter" in await refusal(yard, path)


async def test_a_missing_file_is_named(yard: Yard) -> None:
    assert "No such file" in await refusal(yard, yard.root / "tools" / "gone.sh")


async def test_what_is_neither_script_nor_program_is_refused(yard: Yard) -> None:
    path = yard.root / "tools" / "blob"
    path.write_bytes(b"\0\1\2\3" * 100)
    path.chmod(0o755)
    assert "neither a script nor a program" in await refusal(yard, path)


async def test_a_file_that_others_may_write_is_not_run(yard: Yard) -> None:
    for mode in (0o775, 0o757):
        assert "group or others" in await refusal(yard, yard.script("open.sh", "echo\n", mode))


async def test_a_file_of_another_user_is_not_run(yard: Yard) -> None:
    if os.geteuid() != 0:
        pytest.skip("needs root to give a file away")
    path = yard.script("foreign.sh", "echo\n")
    os.chown(path, 12345, 12345)
    assert "another user" in await refusal(yard, path)


async def test_a_file_that_became_a_link_or_a_folder_is_not_run(yard: Yard) -> None:
    path = yard.root / "tools" / "changing.sh"
    path.symlink_to("/bin/echo")
    assert "no longer a plain file" in await refusal(yard, path)
    path.unlink()
    path.mkdir()
    assert "no longer a plain file" in await refusal(yard, path)


async def test_a_file_outside_the_tools_folder_is_not_run(yard: Yard) -> None:
    beside = yard.root / "tools-old"
    beside.mkdir()
    path = beside / "a.sh"
    path.write_text("#!/bin/sh\necho\n")
    path.chmod(0o755)
    assert "is not inside" in await refusal(yard, path)


async def test_an_environment_that_is_too_large_is_said_to_be(yard: Yard) -> None:
    name = "n" * 200_000
    path = yard.script("a.sh", "#!/bin/sh\n")
    target = yard.target(path)
    target.name = name
    with pytest.raises(ToolError, match="environment is too large"):
        await run(target)


async def test_a_nul_in_an_argument_is_said_to_be(yard: Yard) -> None:
    path = yard.script("a.sh", "#!/bin/sh\n")
    for spec in (
        ScriptSpec(str(path), argv=("a\0b",)),
        ScriptSpec(str(path), extra_env={"A": "\0"}),
    ):
        with pytest.raises(ToolError, match="null"):
            await yard.runner.run(spec)


async def test_where_no_run_folder_can_be_made_it_is_said(a_yard: MakeYard) -> None:
    yard = a_yard(max_concurrent=1)
    (yard.root / "tmp").rmdir()
    (yard.root / "tmp").write_text("a missing folder would be made")
    tool = yard.bash("a.sh", "echo a")
    for _ in range(2):
        with pytest.raises(ToolError, match=f"{yard.root}/tmp"):
            await run(tool)
    (yard.root / "tmp").unlink()
    assert text_of(await run(tool)) == "a"


async def test_a_refused_run_keeps_no_place_and_no_folder(yard: Yard) -> None:
    path = yard.script("odd", "#!/no/such/interpreter\n")
    for _ in range(20):  # more than there are places
        await refusal(yard, path)
    assert text_of(await run(yard.bash("fine.sh", "echo fine"))) == "fine"
