"""The four kinds of entries that are listed."""

from typing import Literal

Kind = Literal["tools", "resources", "templates", "prompts"]
KINDS: tuple[Kind, ...] = ("tools", "resources", "templates", "prompts")
LIST_METHODS: dict[Kind, str] = {
    "tools": "tools/list",
    "resources": "resources/list",
    "templates": "resources/templates/list",
    "prompts": "prompts/list",
}
