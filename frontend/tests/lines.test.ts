import assert from "node:assert/strict";
import { test } from "node:test";
import { matching, underHeadings } from "../src/model/lines.ts";
import type { TrafficLine } from "../src/types.ts";

const line = (number: number, method: string, name: string, outcome = "ok") =>
  ({ number, method, name, outcome, client: "editor", caller: "", to: null }) as TrafficLine;

const LINES = [
  line(5, "ping", ""),
  line(4, "tools/call", "fetch", "error"),
  line(3, "resources/templates/list", ""),
  line(2, "tools/call", "listing"),
  line(1, "tools/call", "fetch"),
];
const ALL = { words: "", outcome: "all", quiet: false };
const numbers = (filter: Partial<typeof ALL>) =>
  matching(LINES, { ...ALL, ...filter }).map((one) => one.number);

test("lists and pings are left out when that is asked for, and nothing else", () => {
  assert.deepEqual(numbers({}), [5, 4, 3, 2, 1]);
  assert.deepEqual(numbers({ quiet: true }), [4, 2, 1]);
  assert.deepEqual(numbers({ quiet: true, words: "FETCH", outcome: "ok" }), [1]);
});

test("calls stand under their headings, the group with the newest first", () => {
  const rows = underHeadings(matching(LINES, { ...ALL, quiet: true }), "call");
  assert.deepEqual(
    rows.map((row) =>
      "line" in row ? row.line.number : `${row.heading} ${row.calls} ${row.failed}`,
    ),
    ["fetch 2 1", 4, 1, "listing 1 0", 2],
  );
  assert.equal(underHeadings(LINES, "none").length, LINES.length);
});
