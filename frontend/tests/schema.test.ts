import assert from "node:assert/strict";
import { test } from "node:test";
import {
  choices,
  initial,
  resolved,
  type Schema,
  shapeOf,
  variantOf,
} from "../src/model/schema.ts";

const shapes: [Schema, string][] = [
  [{ type: "string" }, "text"],
  [{ type: ["string", "null"] }, "text"],
  [{ type: "integer" }, "number"],
  [{ type: "boolean" }, "boolean"],
  [{ enum: ["a", "b"] }, "choice"],
  [{ oneOf: [{ const: 1 }, { const: 2 }] }, "choice"],
  [{ anyOf: [{ type: "string" }, { type: "number" }] }, "either"],
  [{ const: 7 }, "constant"],
  [{ properties: {} }, "object"],
  [{ type: "array" }, "array"],
  [{ type: ["string", "number"] }, "raw"],
  [{}, "raw"],
];
for (const [schema, shape] of shapes)
  test(`${JSON.stringify(schema)} is filled in as ${shape}`, () => {
    assert.equal(shapeOf(schema), shape);
  });

test("a reference is followed, and what stands beside it wins", () => {
  const root = { $defs: { "a/b": { type: "string", title: "there" } } };
  const schema = { $ref: "#/$defs/a~1b", title: "here" };
  assert.deepEqual(resolved(schema, root), { type: "string", title: "here" });
});

test("a reference to itself ends", () => {
  const root: Schema = { $ref: "#" };
  assert.deepEqual(resolved(root, root), {});
});

test("a reference to somewhere else is not followed", () => {
  assert.deepEqual(resolved({ $ref: "https://example.com/x.json" }, {}), {});
});

test("allOf is merged with the fields of all its parts", () => {
  const schema = {
    allOf: [
      { properties: { a: { type: "string" } }, required: ["a"] },
      { properties: { b: { type: "number" } }, required: ["b"] },
    ],
  };
  assert.deepEqual(resolved(schema, {}), {
    properties: { a: { type: "string" }, b: { type: "number" } },
    required: ["a", "b"],
  });
});

test("choices have titles where the schema gives them", () => {
  assert.deepEqual(choices({ enum: ["s", "m"], enumNames: ["Small"] }), [
    { value: "s", label: "Small" },
    { value: "m", label: "m" },
  ]);
  assert.deepEqual(choices({ oneOf: [{ const: 1, title: "One" }, { const: 2 }] }), [
    { value: 1, label: "One" },
    { value: 2, label: "2" },
  ]);
});

test("a form begins with defaults and the objects that must be there", () => {
  const schema = {
    type: "object",
    properties: {
      city: { type: "string", default: "Oslo" },
      note: { type: "string" },
      where: { type: "object", properties: { zone: { const: "x" } }, required: ["zone"] },
    },
    required: ["where"],
  };
  assert.deepEqual(initial(schema, schema, true), { city: "Oslo", where: { zone: "x" } });
});

test("the variant of a value is the one that its members fit", () => {
  const circle = { properties: { kind: { const: "circle" } }, required: ["kind"] };
  const square = { properties: { kind: { const: "square" } }, required: ["kind"] };
  assert.equal(variantOf([circle, square], { kind: "square" }), 1);
  assert.equal(variantOf([{ type: "string" }, { type: "integer" }], 3), 1);
  assert.equal(variantOf([circle], null), 0);
});
