"""Entries: the definition a client sees, and the target that does the work."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from toolyard.protocol.call import JsonObject, Target
from toolyard.protocol.kinds import Kind


@dataclass(frozen=True, slots=True)
class Origin:
    """Where an entry comes from, for the page, the commands and the errors."""

    source: str  # "project", "registry", "upstream"
    owner: str = ""  # the server's name, or the registry file
    place: str = ""  # the script's path, or the JSON pointer


@dataclass(frozen=True, slots=True)
class Tool:
    name: str
    definition: JsonObject  # in the newest revision's form, unknown fields kept
    target: Target
    origin: Origin
    # Client capabilities without which the call is refused before anything runs.
    requires: tuple[str, ...] = ()
    # Arguments that are not the client's: refused when it sends them.
    hidden: frozenset[str] = frozenset()
    # Why it cannot be called at present; it stays listed.
    unavailable: str | None = None
    # Left out of lists where it is disabled for good: a call still says why.
    listed: bool = True
    # We check its arguments, or leave that to whoever does the work.
    check_input: bool = True
    # The target checks its own results (an upstream) or has us do it (a script).
    check_output: bool = False
    # What else the file said of it: version, tags, path; never sent to clients.
    extra: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Resource:
    uri: str
    definition: JsonObject
    target: Target
    origin: Origin
    extra: Mapping[str, object] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return str(self.definition.get("name", self.uri))


@dataclass(frozen=True, slots=True)
class Template:
    uri_template: str
    definition: JsonObject
    target: Target
    origin: Origin
    extra: Mapping[str, object] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return str(self.definition.get("name", self.uri_template))


@dataclass(frozen=True, slots=True)
class Prompt:
    name: str
    definition: JsonObject
    target: Target
    origin: Origin
    extra: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Completion:
    """Completes arguments of a prompt (by name) or of a resource template (by URI)."""

    ref: str
    target: Target
    origin: Origin


@dataclass(frozen=True, slots=True)
class Entries:
    """What one source yields at one moment. Order is kept; the first of a name wins."""

    tools: tuple[Tool, ...] = ()
    resources: tuple[Resource, ...] = ()
    templates: tuple[Template, ...] = ()
    prompts: tuple[Prompt, ...] = ()
    completions: tuple[Completion, ...] = ()
    # Answer for URIs that nothing else does, and are in no list.
    unlisted: tuple[Template, ...] = ()
    # Lists that cannot be served at all, and why: answered as -32603.
    broken: Mapping[Kind, str] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
