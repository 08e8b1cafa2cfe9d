"""The arguments along a chain: which schema callers see, and whether its names lead anywhere.

An entry's `inputSchema`, `defaults` and `hideFields` use the names of its source; its `arguments`
then say what callers see in their place. So a name means something only at its place in the chain,
and is carried from link to link, up or down, before it is compared.
"""

from __future__ import annotations

from collections.abc import Iterator

from toolyard.errors import did_you_mean
from toolyard.protocol.call import JsonObject
from toolyard.sources.registry.chain.chain import Chain
from toolyard.virtual.schema import hide, mentions, property_names, required_fields


def advertised_input(chain: Chain) -> JsonObject:
    """What callers are told to send."""
    schema = chain.input_schema or (chain.definition or {}).get("inputSchema")
    advertised: JsonObject = {"type": "object", **(schema if isinstance(schema, dict) else {})}
    for number in range(_first(chain), -1, -1):
        advertised = _by_callers(chain, number, _by_source(chain, number, advertised))
    return advertised


def why_misnamed(chain: Chain) -> str | None:
    """Why an argument cannot have its new name: the source has no such argument, or two."""
    schema = chain.input_schema or (chain.definition or {}).get("inputSchema")
    if not isinstance(schema, dict):
        return None
    for number in range(_first(chain), -1, -1):
        schema = _by_source(chain, number, schema)
        reason = _misnamed(chain, number, schema)
        if reason is not None:
            return reason
        schema = _by_callers(chain, number, schema)
    return None


def dropped_field(chain: Chain) -> str | None:
    """Why the tool cannot work: its own schema leaves out what something below requires."""
    own = chain.input_schema
    if own is None:
        return None
    for owner, number, names_required in _required_below(chain):
        missing = [
            field
            for field in sorted(names_required)
            if chain.underlying_name(field, number + 1) not in chain.defaults
            and not mentions(own, chain.name_above(field, number, _first(chain)))
        ]
        if missing:
            names = ", ".join(f'"{field}"' for field in missing)
            return f"its inputSchema leaves out {names}, which {owner} requires"
    return None


def _first(chain: Chain) -> int:
    """The link whose source the schema is about: that which states it, else the last."""
    stating = (number for number, link in enumerate(chain.links) if link.input_schema is not None)
    return next(stating, len(chain.links) - 1)


def _by_source(chain: Chain, number: int, schema: JsonObject) -> JsonObject:
    """Without what is hidden at this link or below it."""
    link = chain.links[number]
    return hide(schema, {*chain.withheld(number + 1), *link.defaults, *link.hide_fields})


def _by_callers(chain: Chain, number: int, schema: JsonObject) -> JsonObject:
    renaming = chain.links[number].renaming
    return renaming.schema(schema) if renaming.arguments else schema


def _misnamed(chain: Chain, number: int, schema: JsonObject) -> str | None:
    renaming, names = chain.links[number].renaming, property_names(schema)
    for name, argument in renaming.arguments.items():
        if not mentions(schema, argument.source_name):
            mean = did_you_mean(argument.source_name, names)
            return f'its source has no argument named "{argument.source_name}"{mean}'
        if name in names and name not in renaming.own_names:
            return f'its source has an argument named "{name}" already'
    return None


def _required_below(chain: Chain) -> Iterator[tuple[str, int, frozenset[str]]]:
    """What the sources of the file ask of those who call them, then what the tool underneath does.

    A field that a source hides is nothing that it asks for. With the link whose source it is.
    """
    for number, link in enumerate(chain.links[1:], 1):
        if link.input_schema is not None:
            names = required_fields(link.input_schema) - chain.hidden_below(number)
            yield f'its source "{link.name}"', number, names
    schema = (chain.definition or {}).get("inputSchema")
    if isinstance(schema, dict):
        yield "the underlying tool", len(chain.links) - 1, required_fields(schema)
