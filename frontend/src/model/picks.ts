/** Which fields of a result a tool hands on: picked in a real one, written as an outputSchema. */
import { isObject, type Json, type JsonObject } from "../types.ts";
import { asObject, typeName, type Schema } from "./schema.ts";

/** The elements of a list, in a path. */
export const EACH = "[*]";

export interface Pick {
  /** From the whole result: keys, and EACH for the elements of a list. Null: kept as written. */
  path: string[] | null;
  /** What the result calls it: a name for each list on the way, and last its own. */
  names: string[];
  type: string;
  kept?: Schema;
}

export interface Spot {
  path: string[];
  key: string;
  value: Json;
  below: Spot[];
}

const DEEPEST = 7;
const MOST_BELOW = 60;

/** What can be picked in a value: a list is seen through its elements, merged into one. */
export function spotsIn(value: Json, path: string[] = []): Spot[] {
  if (path.length > DEEPEST) return [];
  if (Array.isArray(value)) {
    const inside = merged(value);
    return inside ? spotsIn(inside, [...path, EACH]) : [];
  }
  if (!isObject(value)) return [];
  return Object.entries(value)
    .slice(0, MOST_BELOW)
    .map(([key, part]) => {
      const here = [...path, key];
      return { path: here, key, value: part, below: spotsIn(part, here) };
    });
}

function merged(values: Json[]): JsonObject | null {
  const objects = values.slice(0, 50).filter(isObject);
  return objects.length ? Object.assign({}, ...objects.reverse()) : null;
}

const pathKey = (path: string[]) => path.join("\u0000");
export const samePath = (one: string[] | null, other: string[] | null) =>
  one !== null && other !== null && pathKey(one) === pathKey(other);

/** A pick at a spot, with names that are free. */
export function pickAt(spot: Spot, picks: Pick[]): Pick {
  const lists = spot.path.flatMap((part, at) => (part === EACH ? [at] : []));
  const names = lists.map((at) => groupName(spot.path.slice(0, at + 1), picks, lists.indexOf(at)));
  const taken = new Set(
    picks.filter((one) => near(one, spot.path)).map((one) => one.names.at(-1)!),
  );
  return { path: spot.path, names: [...names, free(spot.key, taken)], type: typeOf(spot.value) };
}

/** A list that has a name already keeps it. */
function groupName(prefix: string[], picks: Pick[], level: number): string {
  const known = picks.find((one) => samePath(one.path?.slice(0, prefix.length) ?? null, prefix));
  return known?.names[level] ?? prefix.at(-2) ?? "items";
}

/** Do both end up in the same object? */
function near(pick: Pick, path: string[]): boolean {
  const last = (of: string[]) => of.slice(0, of.lastIndexOf(EACH) + 1);
  return pick.path !== null && samePath(last(pick.path), last(path));
}

function free(name: string, taken: ReadonlySet<string>): string {
  for (let n = 1; ; n++) {
    const next = n === 1 ? name : `${name}_${n}`;
    if (!taken.has(next)) return next;
  }
}

/** A whole number today may be a fraction tomorrow; of null nothing is known. */
function typeOf(value: Json): string {
  const type = typeName(value);
  return type === "null" ? "" : type === "integer" || type === "bigint" ? "number" : type;
}

/** The outputSchema for these picks; what was written at the same places besides is kept. */
export function schemaOf(picks: Pick[], before: Schema = {}): Schema {
  const properties: JsonObject = {};
  const old = asObject(before.properties);
  for (const pick of picks) {
    const name = pick.names[0]!;
    const split = pick.path?.indexOf(EACH) ?? -1;
    if (pick.path === null) properties[name] = pick.kept ?? {};
    else if (split < 0 || pick.names.length === 1)
      properties[name] = leaf(pick.path, pick.type, asObject(old[name]));
    else if (!(name in properties))
      properties[name] = list(picks, pick.path.slice(0, split + 1), name, asObject(old[name]));
  }
  const required = (Array.isArray(before.required) ? before.required : []).filter(
    (name) => String(name) in properties,
  );
  const { properties: _, required: __, ...rest } = before;
  return { type: "object", ...rest, properties, ...(required.length ? { required } : {}) };
}

function leaf(path: string[], type: string, old: Schema): Schema {
  return { ...(type ? { type } : {}), ...old, source_field: jsonPath(path) };
}

function list(picks: Pick[], prefix: string[], name: string, old: Schema): Schema {
  const inside = picks
    .filter((one) => one.names.length > 1 && one.names[0] === name)
    .map((one) => ({ ...one, path: one.path!.slice(prefix.length), names: one.names.slice(1) }));
  return {
    type: "array",
    ...old,
    source_field: jsonPath(prefix),
    items: schemaOf(inside, asObject(old.items)),
  };
}

/** The picks that a schema stands for; null where it is no list of fields. */
export function picksOf(schema: Json | undefined, above: string[] = []): Pick[] | null {
  if (!isObject(schema) || !isObject(schema.properties) || "source_field" in schema) return null;
  return Object.entries(schema.properties).flatMap(([name, part]) =>
    picksAt(name, asObject(part), above),
  );
}

function picksAt(name: string, part: Schema, above: string[]): Pick[] {
  const stated = typeof part.source_field === "string" ? part.source_field : jsonPath([name]);
  const path = parsedPath(stated);
  const type = typeof part.type === "string" ? part.type : "";
  const kept = { path: null, names: [name], type, kept: part };
  if (!path || isObject(part.properties)) return [kept];
  if (!isObject(part.items) || !isObject(part.items.properties))
    return [{ path: [...above, ...path], names: [name], type }];
  const inside = path.at(-1) === EACH ? picksOf(part.items, [...above, ...path]) : null;
  if (!inside || inside.some((one) => one.path === null)) return [kept];
  return inside.map((one) => ({ ...one, names: [name, ...one.names] }));
}

const NAME = /^[A-Za-z_][\w]*$/;

export function jsonPath(path: string[]): string {
  const parts = path.map((part) =>
    part === EACH ? EACH : NAME.test(part) ? `.${part}` : `['${part.replace(/['\\]/g, "\\$&")}']`,
  );
  return `$${parts.join("")}`;
}

/** The parts of a path made of names and EACH; null for any other. */
export function parsedPath(text: string): string[] | null {
  const part = /\.([A-Za-z_][\w]*)|\['((?:\\.|[^'\\])*)'\]|(\[\*\])/y;
  if (!text.startsWith("$")) return null;
  part.lastIndex = 1;
  const found: string[] = [];
  while (part.lastIndex < text.length) {
    const match = part.exec(text);
    if (!match) return null;
    found.push(match[1] ?? match[3] ?? match[2]!.replace(/\\(.)/g, "$1"));
  }
  return found;
}
