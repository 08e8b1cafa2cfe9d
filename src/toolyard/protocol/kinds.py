"""The four kinds of entries that are listed, and all that is spelled differently for each. Pure.

A template counts as a resource wherever only three are told apart: in capabilities, in
notifications and in what a caller may see.
"""

from collections.abc import Mapping
from typing import Literal, NamedTuple

Kind = Literal["tools", "resources", "templates", "prompts"]
Family = Literal["tools", "resources", "prompts"]


class Spelling(NamedTuple):
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
        """What a listen stream asks for to hear of that."""
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
LISTS = frozenset(spelled.method for spelled in SPELLED.values())
LIST_CHANGED: Mapping[Kind, str] = {kind: spelled.changed for kind, spelled in SPELLED.items()}
RESOURCE_UPDATED = "notifications/resources/updated"
# What is done with one entry, of which family it is, and the param that names it.
USES: Mapping[str, Family] = {
    "tools/call": "tools",
    "prompts/get": "prompts",
    "resources/read": "resources",
}
NAMED_BY = {method: SPELLED[family].named_by for method, family in USES.items()}
# What a completion can be for, and what that is.
REFERRED: Mapping[str, Family] = {"ref/prompt": "prompts", "ref/resource": "resources"}
