import assert from "node:assert/strict";
import { test } from "node:test";
import { reply } from "../src/model/host.ts";
import { appOf, isApp } from "../src/model/signs.ts";

const said = (method: string, more: object = {}) => ({ jsonrpc: "2.0", method, ...more });
const shown = { theme: "dark", input: { a: 1 }, result: { content: [] } } as const;

test("an app is welcomed in the version that it speaks, and told the theme", () => {
  const { messages } = reply(
    said("ui/initialize", { id: 7, params: { protocolVersion: "2026-01-26" } }),
    shown,
  );
  const [{ id, result }] = messages as [{ id: number; result: Record<string, unknown> }];
  assert.equal(id, 7);
  assert.equal(result.protocolVersion, "2026-01-26");
  assert.deepEqual(result.hostCapabilities, {});
  assert.equal((result.hostContext as { theme: string }).theme, "dark");
});

test("once it is ready it is told the call, as far as there is one", () => {
  const told = (subject: Parameters<typeof reply>[1]) =>
    reply(said("ui/notifications/initialized"), subject).messages.map((one) => one.method);
  assert.deepEqual(told(shown), ["ui/notifications/tool-input", "ui/notifications/tool-result"]);
  assert.deepEqual(told({ theme: "light" }), []);
});

test("whatever it asks for is refused", () => {
  for (const method of ["tools/call", "ui/open-link", "ui/message", "resources/read", "x"]) {
    const [answer] = reply(said(method, { id: 1, params: {} }), shown).messages;
    assert.equal((answer!.error as { code: number }).code, -32601, method);
  }
});

test("its height is heard within bounds", () => {
  const height = (value: unknown) =>
    reply(said("ui/notifications/size-changed", { params: { height: value } }), shown).height;
  assert.deepEqual([300.2, 1e9, -5, "9", Number.NaN].map(height), [
    301,
    900,
    60,
    undefined,
    undefined,
  ]);
});

test("what is no message is not heard", () => {
  for (const one of [null, 1, "ready", [], {}, { method: "ping", id: 1 }, said("other")])
    assert.deepEqual(reply(one, shown), { messages: [] });
});

test("an app is known by its type, or by its address and HTML", () => {
  const app = (mimeType: string, uri = "ui://a/b", text: unknown = "<p>") =>
    isApp({ uri, mimeType, text } as never);
  assert.ok(app("text/html;profile=mcp-app", "x://y"));
  assert.ok(app('text/html; charset=utf-8; profile="mcp-app"', "x://y"));
  assert.ok(app("text/html"));
  assert.ok(!app("text/html", "file:///a.html"));
  assert.ok(!app("text/plain") && !app("text/html", "ui://a", null));
});

test("a tool names its app in either way, and nothing but ui:// is one", () => {
  assert.equal(appOf({ _meta: { ui: { resourceUri: "ui://a" } } }), "ui://a");
  assert.equal(appOf({ _meta: { "ui/resourceUri": "ui://b" } }), "ui://b");
  for (const meta of [null, [], {}, { ui: 1 }, { ui: { resourceUri: "https://x" } }])
    assert.equal(appOf({ _meta: meta } as never), null);
});
