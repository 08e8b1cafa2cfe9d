import assert from "node:assert/strict";
import { test } from "node:test";
import { bound, compositionFrom, follow, specOf } from "../src/model/composition.ts";
import {
  parsedPath,
  pickAt,
  picksOf,
  schemaOf,
  spotsIn,
  type Pick,
  type Spot,
} from "../src/model/picks.ts";
import { fieldsOf, shapeFrom } from "../src/model/shape.ts";
import type { Json, JsonObject } from "../src/types.ts";

const RESULT: Json = {
  station: { city: "Oslo", "long name": "x" },
  days: [
    { day: "mon", rain: { mm: 3 } },
    { day: "tue", wind: 2 },
  ],
  total: 2,
};

const all = (spots: Spot[]): Spot[] => spots.flatMap((one) => [one, ...all(one.below)]);

function picked(...paths: string[]) {
  const spots = all(spotsIn(RESULT));
  const picks: Pick[] = [];
  for (const path of paths) {
    const spot = spots.find((one) => one.path.join("/") === path);
    assert.ok(spot, path);
    picks.push(pickAt(spot, picks));
  }
  return picks;
}

test("fields that are picked become an output schema", () => {
  assert.deepEqual(schemaOf(picked("station/city", "total", "days/[*]/day", "days/[*]/rain/mm")), {
    type: "object",
    properties: {
      city: { type: "string", source_field: "$.station.city" },
      total: { type: "number", source_field: "$.total" },
      days: {
        type: "array",
        source_field: "$.days[*]",
        items: {
          type: "object",
          properties: {
            day: { type: "string", source_field: "$.day" },
            mm: { type: "number", source_field: "$.rain.mm" },
          },
        },
      },
    },
  });
});

test("two fields of one name get two names", () => {
  const names = picked("station/city", "days/[*]/day", "total").map((one) => one.names.at(-1));
  assert.deepEqual(names, ["city", "day", "total"]);
  const spot = { path: ["other", "city"], key: "city", value: 1, below: [] };
  assert.deepEqual(pickAt(spot, picked("station/city")).names, ["city_2"]);
});

test("an output schema is read back as the picks that make it", () => {
  const picks = picked("station/long name", "days/[*]/wind");
  const schema = schemaOf(picks);
  assert.deepEqual(picksOf(schema), picks);
  assert.deepEqual(schemaOf(picksOf(schema)!, schema), schema);
});

test("what picks cannot express stays as it is written", () => {
  const schema: JsonObject = {
    type: "object",
    title: "T",
    properties: {
      a: { type: "string", source_field: "$..a", description: "every a" },
      b: { type: "object", source_field: "$.x", properties: { c: {} } },
      d: { type: "string", description: "kept" },
    },
    required: ["a"],
  };
  const same = { ...schema, properties: { ...(schema.properties as JsonObject) } };
  (same.properties as JsonObject).d = { type: "string", description: "kept", source_field: "$.d" };
  assert.deepEqual(schemaOf(picksOf(schema)!, schema), same);
  assert.equal(picksOf({ $ref: "#/schemas/X" }), null);
});

test("only plain paths are taken apart", () => {
  assert.deepEqual(parsedPath("$.a['b c'][*].d"), ["a", "b c", "[*]", "d"]);
  for (const path of ["a", "$..a", "$.a[0]", "$[?@.x]"]) assert.equal(parsedPath(path), null);
});

const SOURCE: JsonObject = {
  name: "get",
  inputSchema: {
    type: "object",
    properties: { zone: { type: "string" }, raw: { type: "boolean" }, max: { type: "integer" } },
    required: ["zone"],
  },
};

test("a shape writes what was changed and nothing else", () => {
  const entry: JsonObject = {
    name: "mine",
    source: "get",
    defaults: { raw: true, extra: 1 },
    "x-ours": 1,
  };
  const shape = shapeFrom(entry, SOURCE);
  assert.deepEqual(fieldsOf(shape, entry), {});
  const [zone, raw, max] = shape.arguments;
  assert.deepEqual([zone!.state, raw!.state, max!.state], ["shown", "fixed", "shown"]);
  const next = {
    ...shape,
    title: "Mine",
    arguments: [
      { ...zone!, as: "place" },
      { ...raw!, state: "shown" as const },
      { ...max!, state: "hidden" as const },
    ],
  };
  assert.deepEqual(fieldsOf(next, entry), {
    title: "Mine",
    defaults: { extra: 1 },
    hideFields: ["max"],
    arguments: { place: { from: "zone" } },
  });
});

const SPEC: JsonObject = {
  pipeline: {
    note: "ours",
    steps: [
      { id: "find", operation: { tool: { name: "search" } }, input: { input: { path: "$" } } },
      {
        id: "read",
        operation: { tool: { name: "fetch" } },
        input: {
          construct: { fields: { url: { step: { stepId: "find", path: "$.hits[0].url" } } } },
        },
      },
      { operation: { pattern: { filter: { predicate: {} } } } },
    ],
  },
};

test("a composition is read and written as it was", () => {
  assert.deepEqual(specOf(compositionFrom(SPEC)!, SPEC), SPEC);
  assert.equal(compositionFrom({ mapEach: {} }), null);
});

test("what goes into a step comes from the caller and from the steps before", () => {
  const { steps } = compositionFrom(SPEC)!;
  const known = { input: { q: 1 }, values: {}, before: { q: 1 } };
  assert.deepEqual(bound(steps[0]!.binding, known), { q: 1 });
  assert.throws(() => bound(steps[1]!.binding, known), /run find first/);
  const found = { hits: [{ url: "u" }] };
  assert.deepEqual(bound(steps[1]!.binding, { ...known, values: { find: found } }), { url: "u" });
  assert.deepEqual(follow("$.hits[*].url", found), ["u"]);
  assert.throws(() => follow("$..url", found), /run the whole tool/);
});
