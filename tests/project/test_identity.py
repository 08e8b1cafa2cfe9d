"""Who the server says it is."""

import subprocess
import sys

from tests.project.conftest import Folder
from toolyard.settings import Settings
from toolyard.sources.project.identity import ProjectIdentity, read_identity
from toolyard.sources.project.layout import find_root, project_at


def identity(folder: Folder, **settings: object) -> ProjectIdentity:
    chosen = Settings(**settings)
    return read_identity(project_at(str(folder.root), chosen), chosen)


def test_an_empty_folder_is_named_after_itself(folder: Folder) -> None:
    info = {"name": "my-project", "version": "0.0.0", "title": "My Project"}
    assert identity(folder) == ProjectIdentity(info, None, ())


def test_the_fields_of_the_file_are_served_in_their_order(folder: Folder) -> None:
    folder.write("server.d/icon.svg", "<svg/>")
    folder.write(
        "server.d/server.meta.json",
        {
            "icons": [{"src": "icon.svg"}, {"src": "https://e.org/i.png"}],
            "websiteUrl": "https://e.org",
            "description": "d",
            "version": "1.2",
            "name": "n_x",
            "license": "MIT",
        },
    )
    folder.write("server.d/server.instructions.md", "Use it.\n\nWell.\n\n")
    info, instructions, warnings = identity(folder)
    assert list(info) == ["name", "version", "title", "description", "websiteUrl", "icons"]
    assert (info["name"], info["title"], info["version"]) == ("n_x", "N X", "1.2")
    assert info["icons"][0] == {
        "src": "data:image/svg+xml;base64,PHN2Zy8+",
        "mimeType": "image/svg+xml",
    }
    assert info["icons"][1] == {"src": "https://e.org/i.png"}
    assert (instructions, warnings) == ("Use it.\n\nWell.", ())


def test_the_version_comes_from_the_version_file_then_from_package_json(folder: Folder) -> None:
    folder.write("package.json", {"version": "3.0.0"})
    assert identity(folder).info["version"] == "3.0.0"
    folder.write("VERSION", "2.0.0\n")
    assert identity(folder).info["version"] == "2.0.0"


def test_a_broken_file_is_named_and_the_defaults_are_served(folder: Folder) -> None:
    path = folder.write("server.d/server.meta.json", "{")
    info, _, warnings = identity(folder)
    assert info["name"] == "my-project"
    assert len(warnings) == 1 and warnings[0].startswith(f"{path}: is not JSON")


def test_a_project_is_found_from_a_folder_inside_it(folder: Folder) -> None:
    folder.write("server.d/server.meta.json", {})
    inside = folder.root / "tools" / "a"
    inside.mkdir(parents=True)
    assert find_root(str(inside)) == str(folder.root)
    assert find_root(str(folder.root.parent)) is None


def test_reading_who_we_are_imports_neither_the_loop_nor_orjson() -> None:
    program = "import toolyard.sources.project.identity, sys; print(*sys.modules)"
    shown = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert "toolyard.sources.project.identity" in shown.stdout.split(), shown.stderr
    assert not {"asyncio", "orjson", "dataclasses", "tempfile"} & set(shown.stdout.split())
