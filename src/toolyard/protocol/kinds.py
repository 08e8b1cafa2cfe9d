"""The four kinds of entries that are listed, and what MCP calls things for each. Pure.

A template counts as a resource where there are only three families: in capabilities, in
notifications and in the rules for callers.
"""

from collections.abc import Mapping
from typing import Literal, NamedTuple

Kind = Literal["tools", "resources", "templates", "prompts"]
Family = Literal["tools", "resources", "prompts"]


class Spelling(NamedTuple):
    """What MCP calls the things of one kind."""

    title: str  # for people
    family: Family  # the capability that declares it
    method: str  # lists it
    key: str  # the member of a list result that holds the items
    named_by: str  # the member of a definition that tells it from others

    @property
    def changed(self) -> str:
        """The notification that the list has changed."""
        return f"notifications/{self.family}/list_changed"

    @property
    def filter(self) -> str:
        """What a listen stream asks for to be told of it."""
        return f"{self.family}ListChanged"


SPELLED: Mapping[Kind, Spelling] = {
    "tools": Spelling("Tools", "tools", "tools/list", "tools", "name"),
    "resources": Spelling("Resources", "resources", "resources/list", "resources", "uri"),
    "templates": Spelling(
        "Resource templates",
        "resources",
        "resources/templates/list",
        "resourceTemplates",
        "uriTemplate",
    ),
    "prompts": Spelling("Prompts", "prompts", "prompts/list", "prompts", "name"),
}
KINDS: tuple[Kind, ...] = tuple(SPELLED)
FAMILIES: tuple[Family, ...] = ("tools", "resources", "prompts")
LISTS = frozenset(spelling.method for spelling in SPELLED.values())
LIST_CHANGED: Mapping[Kind, str] = {kind: spelling.changed for kind, spelling in SPELLED.items()}
RESOURCE_UPDATED = "notifications/resources/updated"
# The methods that use one entry, its family, and the param that names it.
USES: Mapping[str, Family] = {
    "tools/call": "tools",
    "prompts/get": "prompts",
    "resources/read": "resources",
}
NAMED_BY = {method: SPELLED[family].named_by for method, family in USES.items()}
# What a completion can be for, and the family that belongs to.
REFERRED: Mapping[str, Family] = {"ref/prompt": "prompts", "ref/resource": "resources"}
