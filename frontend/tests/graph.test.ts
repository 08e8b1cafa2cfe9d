import assert from "node:assert/strict";
import { test } from "node:test";
import { layOut } from "../src/model/graph.ts";
import type { Owner } from "../src/model/outline.ts";
import type { ToolRow } from "../src/types.ts";

const tool = (name: string, more: Partial<ToolRow> = {}): ToolRow => ({
  name,
  owner: "web",
  origin: "upstream",
  tokens: 1,
  ...more,
});
const made = (name: string, more: Partial<ToolRow>) => tool(name, { origin: "registry", ...more });
const joined = (tools: ToolRow[], all = tools, empty: Owner[] = []) =>
  layOut(tools, all, empty, empty)
    .lines.map(({ from, to, uses }) => `${from.key} ${uses ? "~" : ">"} ${to.key}`)
    .sort();

test("a composition is joined to what it calls, also to what clients do not see", () => {
  const tools = [tool("fetch"), made("both", { owner: "registry", uses: ["fetch", "secret"] })];
  assert.deepEqual(joined(tools), [
    "hidden:registry:secret ~ tool:both",
    "owner:web > tool:fetch",
    "tool:fetch ~ tool:both",
  ]);
});

test("compositions of compositions, and what is made of them, stand right of what they call", () => {
  const tools = [
    made("third", { owner: "registry", source: "second" }),
    made("second", { owner: "registry", uses: ["first"] }),
    made("first", { owner: "registry", uses: ["fetch"] }),
    tool("fetch"),
  ];
  const { spots } = layOut(tools, tools, [], []);
  const columns = ["fetch", "first", "second", "third"].map(
    (name) => spots.find((spot) => spot.label === name)!.x,
  );
  assert.deepEqual(
    columns,
    [...columns].sort((a, b) => a - b),
  );
  assert.equal(new Set(columns).size, 4);
  assert.ok(joined(tools).includes("tool:second > tool:third"));
});

test("what many come from stands where the first of them are", () => {
  const tools = Array.from({ length: 200 }, (_, n) => tool(`t${n}`));
  const { spots } = layOut(tools, tools, [], []);
  const y = (key: string) => spots.find((spot) => spot.key === key)!.y;
  assert.equal(y("owner:web"), y("tool:t6"));
});

test("a server that was switched off is drawn below the others", () => {
  const off = { name: "off", state: "disabled", description: "", why: "not before spring" };
  const down = { name: "down", state: "failed", description: "", why: "refused" };
  const { spots } = layOut([tool("fetch")], [tool("fetch")], [off, down], [off, down]);
  const owners = spots.filter((spot) => spot.kind === "owner").sort((a, b) => a.y - b.y);
  assert.deepEqual(
    owners.map((spot) => spot.label),
    ["down", "web", "off"],
  );
});

test("compositions that call each other are drawn all the same", () => {
  const tools = [made("a", { uses: ["b"] }), made("b", { uses: ["a"] })];
  assert.deepEqual(
    layOut(tools, tools, [], []).spots.map((spot) => spot.key),
    ["tool:b", "tool:a"],
  );
});

test("a source is hidden only where clients do not see it under any name", () => {
  const shown = tool("web_fetch", { original: "fetch" });
  const news = made("news", { original: "fetch" });
  assert.deepEqual(joined([shown, news]), [
    "owner:web > tool:web_fetch",
    "tool:web_fetch > tool:news",
  ]);
  assert.deepEqual(joined([news]), [
    "hidden:web:fetch > tool:news",
    "owner:web > hidden:web:fetch",
  ]);
  assert.deepEqual(joined([news], [shown, news]), ["owner:web > tool:news"]);
});

test("a server without tools has a place", () => {
  const gone = { name: "gone", state: "failed", description: "", why: "no program" };
  const [spot] = layOut([], [], [gone], [gone]).spots;
  assert.deepEqual([spot!.kind, spot!.owner], ["owner", gone]);
});

test("no two stand at the same place", () => {
  const tools = [tool("a"), tool("b"), ...["x", "y", "z"].map((one) => made(one, { uses: ["a"] }))];
  const { spots, height, width } = layOut(tools, tools, [], []);
  assert.equal(new Set(spots.map((spot) => `${spot.x} ${spot.y}`)).size, spots.length);
  assert.ok(spots.every((spot) => spot.x < width && spot.y < height));
});
