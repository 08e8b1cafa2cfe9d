import assert from "node:assert/strict";
import { test } from "node:test";
import { compact, parse, pretty, same } from "../src/json.ts";

test("an integer beyond 2^53 keeps every digit", () => {
  const text = '{"id":9007199254740993,"small":1}';
  assert.deepEqual(parse(text), { id: 9007199254740993n, small: 1 });
  assert.equal(compact(parse(text)), text);
});

test("a long fraction stays a number", () => {
  assert.deepEqual(parse("[0.12345678901234567]"), [0.12345678901234566]);
});

test("what is not there prints as nothing", () => {
  assert.equal(pretty(undefined), "");
  assert.equal(compact(undefined), "");
});

test("two values are the same when their JSON is", () => {
  assert.ok(same({ a: [1, null] }, { a: [1, null] }));
  assert.ok(!same({ a: 1 }, { a: "1" }));
});
