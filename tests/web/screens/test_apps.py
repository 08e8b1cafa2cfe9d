"""Pages of MCP Apps are drawn in a frame without a way out."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import pytest
from playwright.async_api import Browser, Page, expect

from tests.peers.http1 import fetch
from tests.web.browser import keep_picture, show, window
from tests.web.gateway import ROWS, add_tool, make_project, opened
from tests.web.screens.test_looking import calls_of, use_every_control
from tests.web.trying import result, run

TABLE = """#!/usr/bin/env python3
import json
print(json.dumps({"rows": [{"city": "Oslo"}, {"city": "Rome"}]}))
"""
pytestmark = [pytest.mark.long, pytest.mark.asyncio(loop_scope="module")]

# Tries every way out that a document has, and says what came of each. A way is shut where it
# throws, gives null, or ends in an error; what is sent all the same reaches OUTSIDE.
ESCAPE = """<!doctype html><title>Way out</title><p id="said">trying</p><script>
const load = (tag, properties) => new Promise((open, shut) => {
  const made = Object.assign(document.createElement(tag), properties);
  Object.assign(made, { onload: () => open("loaded"), onerror: () => shut("error") });
  document.head.append(made);
});
const heard = (made, opened) => new Promise((open, shut) => {
  made[opened] = () => open("opened");
  made.onerror = () => shut("error");
});
const ways = {
  fetch: () => fetch("OUTSIDE/fetch", { mode: "no-cors" }),
  own: () => fetch("/api/overview"),
  request: () => new Promise((open, shut) => {
    const made = new XMLHttpRequest();
    made.onload = open;
    made.onerror = () => shut("error");
    made.open("GET", "OUTSIDE/xhr");
    made.send();
  }),
  socket: () => heard(new WebSocket("OUTSIDE/socket".replace("http", "ws")), "onopen"),
  events: () => heard(new EventSource("OUTSIDE/events"), "onopen"),
  image: () => load("img", { src: "OUTSIDE/image" }),
  script: () => load("script", { src: "OUTSIDE/script" }),
  ownScript: () => load("script", { src: "/assets/x.js" }),
  style: () => load("link", { rel: "stylesheet", href: "OUTSIDE/style" }),
  worker: () => heard(new Worker("data:text/javascript,postMessage(1)"), "onmessage"),
  module: () => import("OUTSIDE/module"),
  top: () => { top.location.href = "OUTSIDE/top"; },
  parent: () => parent.document.title,
  parentStorage: () => parent.sessionStorage.length,
  storage: () => localStorage.length,
  session: () => sessionStorage.length,
  cookie: () => document.cookie,
  database: () => heard(indexedDB.open("x"), "onsuccess"),
  popup: () => { if (!open("OUTSIDE/popup")) throw "no window"; },
  question: () => { if (!confirm("sure?")) throw "no dialog"; },
};
const silent = {
  beacon: () => navigator.sendBeacon("OUTSIDE/beacon"),
  frame: () => document.body.append(
    Object.assign(document.createElement("iframe"), { src: "OUTSIDE/frame" })),
  topForm: () => {
    const made = document.createElement("form");
    Object.assign(made, { action: "OUTSIDE/form", target: "_top" });
    document.body.append(made);
    made.submit();
  },
  prefetch: () => document.head.append(
    Object.assign(document.createElement("link"), { rel: "prefetch", href: "OUTSIDE/prefetch" })),
};
(async () => {
  const said = {};
  for (const [name, way] of Object.entries(ways))
    said[name] = await Promise.resolve().then(way).then(() => "open", () => "shut");
  for (const [name, way] of Object.entries(silent)) {
    try { way(); said[name] = "tried"; } catch { said[name] = "tried"; }
  }
  document.getElementById("said").textContent = JSON.stringify(said);
})();
</script>"""
# Where the browser shows that a frame was not let go.
BLOCKED = "chrome-error://"
# Ways of a document to lead itself elsewhere, and take along what it knows.
LEAVE = {
    "location": """<script>location.href = "OUTSIDE/left?with=all";</script>""",
    "link": """<a href="OUTSIDE/left?with=all">x</a><script>document.links[0].click();</script>""",
    "form": """<form action="OUTSIDE/left"></form><script>document.forms[0].submit();</script>""",
    "refresh": """<meta http-equiv="refresh" content="0; url=OUTSIDE/left?with=all">""",
}


# What a policy does not speak of: connections without a request, to names that may say anything.
CONNECT = """<!doctype html><link rel="preconnect" href="OUTSIDE"><p id="said">trying</p><script>
const said = document.getElementById("said");
const turn = "OUTSIDE".replace("http://", "turn:") + "?transport=tcp";
const ice = [{ urls: turn, username: "x", credential: "y" }];
const settled = new Promise((done) => {
  const call = new RTCPeerConnection({ iceServers: ice, iceTransportPolicy: "relay" });
  call.onicegatheringstatechange = () => call.iceGatheringState === "complete" && done();
  call.createDataChannel("x");
  call.createOffer().then((offer) => call.setLocalDescription(offer)).catch(done);
}).catch(() => {});
settled.then(() => { said.textContent = "done"; });
</script>"""
# The first Chromium that is known to obey `Connection-Allowlist`.
ALLOWLIST = 156


@asynccontextmanager
async def outside() -> AsyncIterator[tuple[str, list[int]]]:
    """Somebody elsewhere, and a number for every connection that reaches them."""
    reached: list[int] = []

    async def heard(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        reached.append(len(reached) + 1)
        await reader.readline()
        writer.write(b"HTTP/1.1 204 No Content\r\ncontent-length: 0\r\nconnection: close\r\n\r\n")
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(heard, "127.0.0.1", 0)
    async with server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", reached


def with_page(folder: Path, tool: str, files: dict[str, str]) -> Path:
    """A project whose tool has a page of its own."""
    project = make_project(folder)
    add_tool(project, {**ROWS, "name": tool, "outputSchema": {"type": "object"}}, TABLE)
    pages = project / "tools" / tool / "ui"
    pages.mkdir()
    for name, text in files.items():
        (pages / name).write_text(text)
    return project


async def ran(page: Page, tool: str) -> None:
    await show(page, f"#/explore/tools/{tool}")
    await run(page)
    await result(page)


async def test_the_page_of_a_tool_shows_its_result(browser: Browser, tmp_path: Path) -> None:
    meta = json.dumps({"template": "data-table", "config": {"title": "Cities"}})
    project = with_page(tmp_path, "cities", {"ui.meta.json": meta})
    async with opened(project=project) as yard, window(browser, yard.link) as page:
        await ran(page, "cities")
        inner = page.frame_locator("iframe")
        await expect(inner.get_by_role("heading", name="Cities")).to_be_visible()
        await expect(inner.get_by_role("cell", name="Oslo")).to_be_visible()
        await keep_picture(page, "app")
        calls = calls_of(page)
        assert {"tree", "Copy"} <= set(await use_every_control(page))
        assert calls == []
        await show(page, "#/explore")
        await page.get_by_role("tab", name="Resources").click()
        await page.get_by_role("treeitem").filter(has_text="cities").click()
        await expect(inner.get_by_role("heading", name="Cities")).to_be_visible()
        await page.get_by_role("button", name="text", exact=True).click()
        await expect(page.locator("iframe")).to_have_count(0)
        await expect(page.locator(".result pre.code")).to_contain_text("<!doctype html>")


async def test_a_page_can_call_no_tool(browser: Browser, tmp_path: Path) -> None:
    form = {"submitTool": "rows", "fields": [{"name": "who", "label": "Who"}]}
    meta = json.dumps({"template": "form", "config": form})
    project = with_page(tmp_path, "cities", {"ui.meta.json": meta})
    async with opened(project=project) as yard, window(browser, yard.link) as page:
        await ran(page, "cities")
        inner = page.frame_locator("iframe")
        await inner.get_by_label("Who").fill("Ann")
        calls = calls_of(page)
        await inner.get_by_role("button").click()
        await expect(inner.locator("main > p")).to_contain_text("it makes no calls")
        assert calls == []


@asynccontextmanager
async def escaping(browser: Browser, folder: Path, html: str) -> AsyncIterator[Page]:
    async with AsyncExitStack() as stack:
        elsewhere, reached = await stack.enter_async_context(outside())
        files = {"index.html": html.replace("OUTSIDE", elsewhere)}
        yard = await stack.enter_async_context(opened(project=with_page(folder, "escape", files)))
        # The browser says at length what it has refused; in which words is its own matter.
        yield await stack.enter_async_context(window(browser, yard.link, expected=("",)))
        await nothing_reached(elsewhere, reached)


async def nothing_reached(elsewhere: str, reached: list[int]) -> None:
    async with fetch("GET", f"{elsewhere}/last", {}) as reply:
        assert reply.status == 204
    assert reached == [1]


async def test_a_page_reaches_neither_the_network_nor_the_page_around_it(
    browser: Browser, tmp_path: Path
) -> None:
    async with escaping(browser, tmp_path, ESCAPE) as page:
        url = page.url
        await ran(page, "escape")
        said = page.frame_locator("iframe").locator("#said")
        await expect(said).to_contain_text("{")
        ways = json.loads(await said.inner_text())
        assert {way for way, outcome in ways.items() if outcome == "open"} == set()
        assert len(ways) == 24
        assert page.url.startswith(url.partition("#")[0])
        assert len(page.context.pages) == 1
        assert await page.evaluate("sessionStorage.length") > 0
        await expect(page.get_by_role("heading", name="escape")).to_be_visible()


@pytest.mark.parametrize("way", LEAVE)
async def test_a_page_cannot_leave_with_what_it_knows(
    browser: Browser, tmp_path: Path, way: str
) -> None:
    async with escaping(browser, tmp_path, f"<!doctype html>{LEAVE[way]}") as page:
        async with page.expect_event("framenavigated", lambda frame: frame.url.startswith(BLOCKED)):
            await ran(page, "escape")
        await expect(page.get_by_role("heading", name="escape")).to_be_visible()


async def test_a_page_opens_no_connection_at_all(browser: Browser, tmp_path: Path) -> None:
    if int(browser.version.partition(".")[0]) < ALLOWLIST:
        pytest.skip(f"Chromium {browser.version} knows no Connection-Allowlist")
    async with escaping(browser, tmp_path, CONNECT) as page:
        await ran(page, "escape")
        said = page.frame_locator("iframe").locator("#said")
        await expect(said).to_have_text("done", timeout=20_000)


async def test_the_frame_is_shown_by_nobody_else_and_closed_by_itself(
    browser: Browser, tmp_path: Path
) -> None:
    async with opened() as yard:
        async with fetch("GET", f"{yard.server.origin}/app.html", {}) as reply:
            policy = reply.headers["content-security-policy"]
        parts = {part.strip() for part in policy.split(";")}
        assert {
            "default-src 'none'",
            "sandbox allow-scripts allow-forms",
            "frame-ancestors 'self'",
        } <= parts
        assert not [part for part in parts if "http" in part or "connect-src" in part]
