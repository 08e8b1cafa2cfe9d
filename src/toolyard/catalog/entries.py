"""Entries: the definition a client sees, and the target that does the work."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from toolyard.protocol.call import JsonObject, Target
from toolyard.protocol.kinds import Kind
from toolyard.protocol.tasks.words import FORBIDDEN, Support


@dataclass(frozen=True, slots=True)
class Origin:
    """Where an entry comes from, for the page, the commands and error messages."""

    source: str  # "project", "registry", "upstream"
    owner: str = ""  # the server's name, or the registry file
    place: str = ""  # the script's path, or the JSON pointer


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool on offer."""

    name: str
    definition: JsonObject  # in the newest revision's form, unknown fields kept
    target: Target
    origin: Origin
    # Client capabilities without which the call is refused before anything runs.
    requires: tuple[str, ...] = ()
    # Arguments that a client may not send: they are refused.
    hidden: frozenset[str] = frozenset()
    # Why it cannot be called at present; it stays listed.
    unavailable: str | None = None
    # False if it is disabled for good: it is not in lists, but a call still says why.
    listed: bool = True
    # Whether we check its arguments, or leave that to whoever does the work.
    check_input: bool = True
    # Whether we check its results (a script's), or its target does (an upstream's).
    check_output: bool = False
    # Whether calls may become tasks; and whether what it asks by its result is asked before that.
    tasks: Support = FORBIDDEN
    asks_first: bool = False
    # What else its file says: version, tags, path; never sent to clients.
    extra: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Resource:
    """A resource on offer, by its URI."""

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
    """A family of resources on offer, by a URI template."""

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
    """A prompt on offer."""

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
    """What one source has at one moment. Order is kept; the first of a name wins."""

    tools: tuple[Tool, ...] = ()
    resources: tuple[Resource, ...] = ()
    templates: tuple[Template, ...] = ()
    prompts: tuple[Prompt, ...] = ()
    completions: tuple[Completion, ...] = ()
    # Answer for URIs that nothing else answers for, and are not listed.
    unlisted: tuple[Template, ...] = ()
    # Lists that cannot be served at all, and why: answered as -32603.
    broken: Mapping[Kind, str] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
