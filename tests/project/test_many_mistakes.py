"""A project that is wrong in thousands of places: its log stays readable, its start quick."""

import time
from pathlib import Path

import pytest

from tests.peers.raw import StdioClient, over_stdio
from tests.peers.serving import toolyard
from tests.project.conftest import Folder, runner_of, source_of
from toolyard.catalog.keeper import MOST_WARNINGS, Keeper

pytestmark = pytest.mark.long

TWICE = "there is already a resource with the name 'same'"


def duplicates(root: Path, count: int) -> Folder:
    """So many resources that have the name of another."""
    folder = Folder(root)
    for number in range(count + 1):
        folder.write(f"resources/{number:05}/same.txt", "")
    return folder


def warned(client: StdioClient) -> list[str]:
    return [line for line in client.running.stderr if TWICE in line]


async def test_the_log_names_fifty_and_says_how_many_more(tmp_path: Path) -> None:
    folder = duplicates(tmp_path, MOST_WARNINGS + 70)
    async with over_stdio(toolyard("serve", folder.root)) as client:
        assert len((await client.result("resources/list"))["resources"]) == 1
        # What is wrong anew is named, and what was known is not said again.
        folder.write("resources/99999/same.txt", "")
        folder.write("resources/other.txt", "")
        await client.notification("notifications/resources/list_changed")
        await client.end_of_input()
        await client.running.last_words()
    said = warned(client)
    assert len(said) == MOST_WARNINGS + 1
    assert "99999/same.txt" in said[-1]
    [more] = [line for line in client.running.stderr if "more like these" in line]
    assert more.endswith("and 70 more like these")


def seconds_to_build(folder: Folder) -> float:
    """The best of five, each from nothing."""
    took = []
    for _ in range(5):
        source = source_of(folder, runner_of(folder.root))
        begun = time.process_time()
        catalog = Keeper([source]).current
        took.append(time.process_time() - begun)
        assert len(catalog.resources) == 1
    return min(took)


def test_twenty_times_the_duplicates_take_about_twenty_times_as_long(tmp_path: Path) -> None:
    few = seconds_to_build(duplicates(tmp_path / "few", 200))
    many = seconds_to_build(duplicates(tmp_path / "many", 4000))
    assert many < 50 * few  # to look at every other one for each takes it to about 100
