import assert from "node:assert/strict";
import { test } from "node:test";
import { diff } from "../src/model/diff.ts";

const kinds = (left: string, right: string) => diff(left, right).map((line) => line.kind);

test("equal texts are the same line by line", () => {
  assert.deepEqual(diff("a\nb", "a\nb"), [
    { kind: "same", text: "a", left: 1, right: 1 },
    { kind: "same", text: "b", left: 2, right: 2 },
  ]);
});

test("a changed line is gone and new, between lines that stay", () => {
  assert.deepEqual(diff("a\nb\nc", "a\nB\nc"), [
    { kind: "same", text: "a", left: 1, right: 1 },
    { kind: "gone", text: "b", left: 2 },
    { kind: "new", text: "B", right: 2 },
    { kind: "same", text: "c", left: 3, right: 3 },
  ]);
});

test("a comma at the end of a line is not a difference", () => {
  assert.deepEqual(kinds('"a": 1', '"a": 1,'), ["same"]);
});

test("texts without a common line are gone and new", () => {
  assert.deepEqual(kinds("a", "b"), ["gone", "new"]);
});

test("texts too large to compare are replaced as a whole", () => {
  const lines = (name: string) => Array.from({ length: 2500 }, (_, n) => `${name}${n}`).join("\n");
  const all = kinds(lines("a"), lines("b"));
  assert.equal(all.filter((kind) => kind === "gone").length, 2500);
  assert.equal(all.filter((kind) => kind === "new").length, 2500);
});
