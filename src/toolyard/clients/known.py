"""What we know of one client: its files, their form, and what an entry in them looks like.

A record is data: differences between clients are fields of it, never code somewhere else.

Places are patterns. `~` is the home folder; `AS`, `CFG`, `APPDATA` and `LOCALAPPDATA` are the
folders that systems have for such files; `$NAME/...` counts only where that variable is set, and
then no other does; `@FILE/...` begins with the folder that is written in FILE. `linux:`, `macos:`
and `windows:` in front say where a pattern applies. A `*` stands for whatever is there.

Entries are templates, in which `$command`, `$args`, `$line` (both in one list), `$env`, `$name`,
`$url`, `$bearer` and `$variable` are filled in.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from toolyard.files.documents.document import Format
from toolyard.files.documents.json_text import JsonText
from toolyard.files.documents.toml_text import TomlText
from toolyard.files.documents.yaml_text import YamlText

Template = Mapping[str, Any]
# What a URL without a word about its transport means.
UrlMeans = Literal["http", "sse", "auto"]

STRICT = JsonText()
COMMENTS = JsonText(comments=True, bom=True)
JSONC = JsonText(comments=True, trailing_commas=True, bom=True)
TOML = TomlText()
YAML = YamlText()

PLAIN: Template = {"command": "$command", "args": "$args", "env": "$env"}
TYPED: Template = {"type": "stdio", **PLAIN}
URL: Template = {"url": "$url"}
HEADERS: Template = {"headers": {"Authorization": "$bearer"}}


@dataclass(frozen=True, slots=True)
class KnownClient:
    """One client."""

    id: str
    title: str
    # The file of the user, in every place where it can be; and of a project, from its root.
    user: tuple[str, ...] = ()
    project: tuple[str, ...] = ()
    # Files that only older versions read.
    older: tuple[str, ...] = ()
    form: Format = JSONC
    container: tuple[str, ...] = ("mcpServers",)
    # The container is a list, whose items have their name under this key.
    key: str = ""
    local: Template = field(default_factory=lambda: PLAIN)
    # None: it starts programs and does nothing else.
    remote: Template | None = field(default_factory=lambda: URL)
    token: Template = field(default_factory=lambda: HEADERS)
    # Added beside the entry where it has a token: key of a list at the top, and its item.
    prompt: Template | None = None
    # How it refers to the variable VAR; empty: it cannot.
    reference: str = ""
    # The form of a name that it takes.
    names: str = r"[A-Za-z0-9_.-]+"
    aliases: tuple[str, ...] = ()
    # What is there if the client is, where that is not the folder of its file.
    signs: tuple[str, ...] = ()
    # A file that, where it exists, is the only one that counts.
    managed: tuple[str, ...] = ()
    # A link that a browser hands to it.
    install: str = ""
    # What a person still has to do.
    after: str = "Restart it."
    locks: bool = False
    url_means: UrlMeans = "http"
    seconds: bool = False  # its timeouts are in seconds, not in milliseconds

    @property
    def writes(self) -> bool:
        """Is there a file of its own to put servers into?"""
        return bool(self.user or self.project)
