/** A tool made from another, as a form: read from its registry entry, and the fields to write. */
import { same } from "../json.ts";
import { isObject, type Json, type JsonObject } from "../types.ts";
import { picksOf, schemaOf, type Pick } from "./picks.ts";
import { asList, asObject, resolved, type Schema } from "./schema.ts";

export type ArgumentState = "shown" | "fixed" | "hidden";

export interface ArgumentShape {
  /** What the source calls it. */
  name: string;
  state: ArgumentState;
  /** What callers call it. */
  as: string;
  description: string;
  value: Json | undefined;
  required: boolean;
  schema: Schema;
}

export interface Shape {
  name: string;
  title: string;
  description: string;
  hidden: boolean;
  arguments: ArgumentShape[];
  /** Null: the result is handed on, or projected by what the file says, and left as it is. */
  picks: Pick[] | null;
}

const text = (value: Json | undefined) => (typeof value === "string" ? value : "");

export function shapeFrom(entry: JsonObject, source: JsonObject): Shape {
  return {
    name: text(entry.name),
    title: text(entry.title),
    description: text(entry.description),
    hidden: entry.hidden === true,
    arguments: argumentsFrom(entry, asObject(source.inputSchema)),
    picks: picksOf(entry.outputSchema),
  };
}

function argumentsFrom(entry: JsonObject, schema: Schema): ArgumentShape[] {
  const known = resolved(schema, schema);
  const fixed = asObject(entry.defaults);
  const hidden = asList(entry.hideFields);
  const shown = renamed(entry);
  return Object.entries(asObject(known.properties)).map(([name, part]) => ({
    name,
    state: name in fixed ? "fixed" : hidden.includes(name) ? "hidden" : "shown",
    as: shown.get(name)?.as ?? name,
    description: shown.get(name)?.description ?? "",
    value: fixed[name],
    required: asList(known.required).includes(name),
    schema: resolved(part, schema),
  }));
}

/** By the name of the source: the entry's own name for it, and its description. */
function renamed(entry: JsonObject): Map<string, { as: string; description: string }> {
  const pairs = Object.entries(asObject(entry.arguments)).map(([as, part]) => {
    const said = asObject(part);
    return [text(said.from) || as, { as, description: text(said.description) }] as const;
  });
  return new Map(pairs);
}

/** What must be written: only what differs from the entry; null takes a field away. */
export function fieldsOf(shape: Shape, entry: JsonObject): JsonObject {
  const next: JsonObject = {
    name: shape.name,
    title: shape.title || null,
    description: shape.description || null,
    hidden: shape.hidden || null,
    defaults: orNull(defaultsOf(shape, entry)),
    hideFields: orNull(hiddenOf(shape, entry)),
    arguments: orNull(renamesOf(shape, entry)),
    ...(shape.picks === null ? {} : { outputSchema: projection(shape.picks, entry) }),
  };
  const before = (key: string) => entry[key] ?? null;
  return Object.fromEntries(
    Object.entries(next).filter(([key, value]) => !same(value, before(key))),
  );
}

const orNull = (value: Json[] | JsonObject): Json =>
  (Array.isArray(value) ? value.length : Object.keys(value).length) ? value : null;

/** Values for arguments that the source does not name are not ours to judge. */
function others(value: JsonObject, shape: Shape): JsonObject {
  const ours = new Set(shape.arguments.map((one) => one.name));
  return Object.fromEntries(Object.entries(value).filter(([name]) => !ours.has(name)));
}

function defaultsOf(shape: Shape, entry: JsonObject): JsonObject {
  const before = asObject(entry.defaults);
  const fixed = shape.arguments.filter((one) => one.state === "fixed");
  const values = fixed.map((one) => [one.name, one.value ?? null] as const);
  return { ...others(before, shape), ...Object.fromEntries(values) };
}

function hiddenOf(shape: Shape, entry: JsonObject): Json[] {
  const before = asList(entry.hideFields);
  const now = new Set(shape.arguments.filter((one) => one.state === "hidden").map((a) => a.name));
  const ours = new Set(shape.arguments.map((one) => one.name));
  const kept = before.filter((name) => now.has(String(name)) || !ours.has(String(name)));
  return [...kept, ...[...now].filter((name) => !before.includes(name))];
}

function renamesOf(shape: Shape, entry: JsonObject): JsonObject {
  const before = asObject(entry.arguments);
  const ours = new Set(shape.arguments.map((one) => one.name));
  const foreign = Object.entries(before).filter(
    ([as, part]) => !ours.has(text(asObject(part).from) || as),
  );
  const told = shape.arguments
    .filter((one) => one.state === "shown" && (one.as !== one.name || one.description))
    .map((one) => [
      one.as || one.name,
      {
        ...(one.as && one.as !== one.name ? { from: one.name } : {}),
        ...(one.description ? { description: one.description } : {}),
      },
    ]);
  return { ...Object.fromEntries(foreign), ...Object.fromEntries(told) };
}

/** No field picked: the result is handed on whole. */
function projection(picks: Pick[], entry: JsonObject): Json {
  if (!picks.length) return null;
  const before = asObject(entry.outputSchema);
  return schemaOf(picks, isObject(before.properties) ? before : {});
}

/** What the form cannot express, and therefore leaves as it is. */
export function leftAlone(entry: JsonObject): string[] {
  const found: string[] = [];
  if (isObject(entry.inputSchema)) found.push("inputSchema");
  if (isObject(entry.outputSchema) && picksOf(entry.outputSchema) === null)
    found.push("outputSchema");
  for (const key of ["outputTransform", "textExtraction"]) if (key in entry) found.push(key);
  return found;
}
