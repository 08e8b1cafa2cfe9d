import assert from "node:assert/strict";
import { test } from "node:test";
import { placeAt } from "../src/model/cursor.ts";

/** The place of `|` in the text. */
function at(text: string) {
  const position = text.indexOf("|");
  const place = placeAt(text.replace("|", ""), position);
  return (
    place && [place.isKey ? "key" : "value", place.path, place.inString, position - place.from]
  );
}

test("a position is in a key or a value of a place", () => {
  assert.deepEqual(at('[{"na|"}]'), ["key", [0], true, 2]);
  assert.deepEqual(at('[{"name": "a", "so|urce": 1}]'), ["key", [0], true, 2]);
  assert.deepEqual(at('[{"name": "a"}, {"hidden": |}]'), ["value", [1, "hidden"], false, 0]);
  assert.deepEqual(at('[{"a": {"b": ["x", "y|"]}}]'), ["value", [0, "a", "b", 1], true, 1]);
  assert.deepEqual(at('[{"a": tr|}]'), ["value", [0, "a"], false, 2]);
  assert.deepEqual(at("[\n  // name\n  {|}]"), ["key", [0], false, 0]);
});

test("nothing is offered in a comment, and keys that are there are known", () => {
  assert.equal(at("[ // na|"), null);
  assert.equal(at("[ /* na|"), null);
  assert.deepEqual(placeAt('{"a": 1, "b": 2, "', 18)?.present, ["a", "b"]);
});
