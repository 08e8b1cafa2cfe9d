"""The four list methods: a catalog encodes pages when they are first asked for, and keeps them."""

from __future__ import annotations

from toolyard.catalog.snapshot import PageRequest
from toolyard.errors import INVALID_PARAMS, ProtocolError
from toolyard.methods.offer import Offer
from toolyard.methods.views import WHOLE
from toolyard.protocol.call import Call, Channel, Handler, Result
from toolyard.protocol.kinds import Kind
from toolyard.protocol.paging import page_limit


def list_method(offer: Offer, kind: Kind) -> Handler:
    sizes = offer.sizes
    templates = kind == "templates"
    default = sizes.templates_default if templates else sizes.default
    views = offer.views if kind == "tools" else None
    most = sizes.templates_most if templates else sizes.most

    async def answer(call: Call, channel: Channel) -> Result:
        cursor = call.params.get("cursor")
        if cursor is not None and not isinstance(cursor, str):
            raise ProtocolError(INVALID_PARAMS, "Invalid cursor")
        limit = default
        if "limit" in call.params:
            limit = page_limit(call.params["limit"], default, most)
        if offer.on_list is not None:
            offer.on_list()
        catalog = await offer.to(call, channel)
        if views is not None and (call.address is not None or WHOLE not in catalog.derived):
            look = views.listed if cursor is None else views.shown
            catalog = look(call, catalog)
        return catalog.page(PageRequest(kind, call.revision, limit, cursor), offer.stamp)

    return answer
