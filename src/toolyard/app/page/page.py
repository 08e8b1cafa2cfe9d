"""The page over what a plan serves: its token, its files, and where it listens."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING

from toolyard.access.callers import Authenticator
from toolyard.access.inbound import Bearers
from toolyard.access.tokens import StaticToken, StaticTokens, hash_of
from toolyard.app.build import App
from toolyard.app.plan import Plan
from toolyard.app.serving.later import Later
from toolyard.app.taps import NoTaps, Taps
from toolyard.context.owners import PROJECT
from toolyard.protocol.call import Handler, Target
from toolyard.upstreams.target import UpstreamTargets
from toolyard.web.recording.hops import Observed, ObservedTargets
from toolyard.web.recording.traffic import Traffic, recorded
from toolyard.web.static import HOW, is_built, read_static

if TYPE_CHECKING:
    from toolyard.app.observing import Pictures
    from toolyard.app.page.other_gateway import Other
    from toolyard.web.site import Site


class Page:
    """The page of one server: its token, its static files, what it records."""

    def __init__(
        self, plan: Plan, *, needs_token: bool, gateway: Other | None = None, token: str = ""
    ) -> None:
        """`gateway`: the one that is shown in place of ours. Without a token it makes one."""
        self._plan = plan
        self._gateway = gateway
        self._needs_token = needs_token
        self._token = token or secrets.token_urlsafe(24)
        self._traffic = Traffic() if plan.settings.page_traffic else None

    @property
    def taps(self) -> Taps:
        return PageTaps(self._traffic)

    def invitation(self, origin: str) -> str:
        """What the person who started the server is told, once."""
        link = f"Page: {origin}/#token={self._token}"
        return link if is_built() else f"{link} (not built: run `{HOW}` in the checkout)"

    @property
    def authenticator(self) -> Authenticator:
        """Admits whoever holds the page's token."""
        return Bearers(StaticTokens([StaticToken("page", hash_of(self._token))]))

    def site(self, app: App, pictures: Pictures | None) -> Later[Site]:
        return Later(lambda: self._site(app, pictures))

    def _site(self, app: App, pictures: Pictures | None) -> Site:
        # Much of what a gateway would have to import.
        from toolyard.app.page.care import PageCare  # noqa: PLC0415
        from toolyard.app.page.window import AppWindow, OtherWindow  # noqa: PLC0415
        from toolyard.web.site import Site  # noqa: PLC0415

        care = PageCare(app.federation, pictures)
        window = AppWindow(self._plan, app, self._traffic, care, needs_token=self._needs_token)
        view = window if self._gateway is None else OtherWindow(window, self._gateway)
        return Site(view, self._token, read_static())


class PageTaps(NoTaps):
    """Records every call, and notes which part of it each script and upstream took."""

    def __init__(self, traffic: Traffic | None) -> None:
        self._traffic = traffic

    def handler(self, handler: Handler) -> Handler:
        return recorded(handler, self._traffic) if self._traffic else handler

    def script(self, target: Target) -> Target:
        return Observed(target, PROJECT)

    def upstreams(self, targets: UpstreamTargets) -> UpstreamTargets:
        return ObservedTargets(targets)
