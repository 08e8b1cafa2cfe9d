import assert from "node:assert/strict";
import { test } from "node:test";
import { bare, index, outline, search } from "../src/model/outline.ts";
import { tableOf } from "../src/model/table.ts";
import type { Listing } from "../src/types.ts";

const listing = {
  tools: [
    { name: "fetch", owner: "web", description: "Get a page" },
    { name: "news", owner: "web", source: "fetch", title: "Headlines" },
    { name: "alone", owner: "web", source: "nowhere" },
  ],
  resources: [{ name: "log", uri: "file:///log", owner: "project" }],
  templates: [],
  prompts: [{ name: "greet", owner: "project" }],
} as unknown as Listing;

const rows = (folded: string[] = []) =>
  outline(index(listing), new Set(folded)).map((row) => `${row.level} ${row.label}`);

test("a virtual tool stands below its source, where that is there", () => {
  assert.deepEqual(rows(), [
    "0 web",
    "1 fetch",
    "2 Headlines",
    "1 alone",
    "0 project",
    "1 log",
    "1 greet",
  ]);
});

test("a server with nothing on offer stands first, with the reason below it", () => {
  const all = index(listing);
  const down = { name: "down", state: "failed", description: "Weather", why: "refused" };
  const web = { name: "web", state: "idle", description: "", why: "starts with the first call" };
  const rows = (words: string) => {
    const found = search(all, words, ["tools"], "");
    return outline(found, new Set(), [down, web], bare(all, [down, web], words, "")).map(
      (row) => `${row.level} ${row.label}`,
    );
  };
  assert.deepEqual(rows("weather"), ["0 down", "1 refused"]);
  assert.deepEqual(rows("").slice(0, 5), [
    "0 down",
    "1 refused",
    "0 web",
    "1 starts with the first call",
    "1 fetch",
  ]);
});

test("a server that was switched off stands last, below all that is served", () => {
  const off = { name: "off", state: "disabled", description: "", why: "not before spring" };
  const all = index(listing);
  const rows = outline(all, new Set(), [off], bare(all, [off], "", ""));
  assert.deepEqual(
    rows.slice(-2).map((row) => [row.kind, row.label, row.owner?.state]),
    [
      ["owner", "off", "disabled"],
      ["note", "not before spring", "disabled"],
    ],
  );
});

test("a folded owner keeps its entries to itself", () => {
  assert.deepEqual(rows(["owner:web"]), ["0 web", "0 project", "1 log", "1 greet"]);
});

test("every word must be found, in any case, in name, title, description or owner", () => {
  const found = (words: string) =>
    search(index(listing), words, ["tools", "prompts"], "").map((one) => one.id);
  assert.deepEqual(found("PAGE web"), ["fetch"]);
  assert.deepEqual(found("headlines"), ["news"]);
  assert.deepEqual(found("page greet"), []);
});

test("two tools that name each other as source end", () => {
  const circle = {
    tools: [
      { name: "a", owner: "x", source: "b" },
      { name: "b", owner: "x", source: "a" },
    ],
    resources: [],
    templates: [],
    prompts: [],
  } as unknown as Listing;
  assert.equal(outline(index(circle), new Set()).length, 1);
});

test("a list of objects is a table, also as the one list of an object", () => {
  const table = { columns: ["a", "b"], rows: [{ a: 1 }, { b: 2 }] };
  assert.deepEqual(tableOf([{ a: 1 }, { b: 2 }]), table);
  assert.deepEqual(tableOf({ total: 2, items: [{ a: 1 }, { b: 2 }] }), table);
  assert.equal(tableOf([1, 2]), null);
  assert.equal(tableOf({ a: [{ x: 1 }], b: [{ y: 1 }] }), null);
});
