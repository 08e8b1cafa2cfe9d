"""resources/read: by URI, through the entry or the template that answers for it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from toolyard.catalog.entries import Resource, Template
from toolyard.catalog.snapshot import Catalog
from toolyard.errors import INVALID_PARAMS, RESOURCE_NOT_FOUND, ProtocolError, shown
from toolyard.methods.offer import Offer
from toolyard.protocol.call import Call, Channel, JsonObject, Result


@dataclass(frozen=True, slots=True)
class ResourceMethods:
    offer: Offer

    async def read(self, call: Call, channel: Channel) -> Result:
        catalog = await self.offer.having(partial(is_known, call), call, channel)
        entry, arguments = find(catalog, uri_of(call, catalog))
        return await entry.target.call(arguments, call, channel)


def is_known(call: Call, catalog: Catalog) -> bool:
    """Is the resource in this catalog, or the request wrong in another way?"""
    try:
        find(catalog, uri_of(call, catalog))
    except ProtocolError as error:
        return error.code != RESOURCE_NOT_FOUND
    return True


def uri_of(call: Call, catalog: Catalog) -> str:
    """The URI asked for; clients of mcp-bash may also ask by name."""
    uri, name = call.params.get("uri"), call.params.get("name")
    if isinstance(uri, str) and uri:
        return uri
    if isinstance(name, str) and name:
        return _uri_by_name(catalog, name)
    raise ProtocolError(INVALID_PARAMS, "Resource name or uri required")


def _uri_by_name(catalog: Catalog, name: str) -> str:
    for resource in catalog.resources.values():
        if resource.name == name:
            return resource.uri
    raise not_found({"name": name})


def find(catalog: Catalog, uri: str) -> tuple[Resource | Template, JsonObject]:
    """The entry that answers for a URI, and the arguments of its target."""
    match = catalog.find_resource(uri)
    if match is None:
        raise not_found({"uri": uri})
    entry, variables = match
    return entry, {**variables, "uri": uri}


def not_found(data: dict[str, str]) -> ProtocolError:
    texts = {key: shown(value) for key, value in data.items()}
    return ProtocolError(RESOURCE_NOT_FOUND, "Resource not found", texts)
