/** JSON Schema as a form sees it: references resolved, combinations merged, values to begin with. */
import { isObject, type Json, type JsonObject } from "../types.ts";

export type Schema = JsonObject;

export type Shape =
  | "text"
  | "number"
  | "boolean"
  | "choice"
  | "constant"
  | "object"
  | "array"
  | "either"
  | "raw";

/** Follow references inside the schema and merge what must all hold. */
export function resolved(schema: Json | undefined, root: Schema, depth = 0): Schema {
  if (!isObject(schema)) return {};
  if (depth > 20) return {};
  let found = schema;
  if (typeof found.$ref === "string") {
    const { $ref, ...beside } = found;
    found = { ...resolved(lookUp($ref as string, root), root, depth + 1), ...beside };
  }
  if (Array.isArray(found.allOf)) {
    const { allOf, ...rest } = found;
    found = (allOf as Json[]).reduce<Schema>(
      (sum, part) => merged(sum, resolved(part, root, depth + 1)),
      rest,
    );
  }
  return found;
}

function lookUp(ref: string, root: Schema): Json | undefined {
  if (!ref.startsWith("#")) return undefined;
  let at: Json | undefined = root;
  for (const part of ref.slice(1).split("/").filter(Boolean)) {
    const key = decodeURIComponent(part).replace(/~1/g, "/").replace(/~0/g, "~");
    at = isObject(at) ? at[key] : Array.isArray(at) ? at[Number(key)] : undefined;
  }
  return at;
}

function merged(one: Schema, other: Schema): Schema {
  const properties = { ...asObject(one.properties), ...asObject(other.properties) };
  const required = [...asList(one.required), ...asList(other.required)];
  return {
    ...one,
    ...other,
    ...(Object.keys(properties).length ? { properties } : {}),
    ...(required.length ? { required } : {}),
  };
}

export const asObject = (value: Json | undefined): JsonObject => (isObject(value) ? value : {});
export const asList = (value: Json | undefined): Json[] => (Array.isArray(value) ? value : []);

export function typesOf(schema: Schema): string[] {
  const type = schema.type;
  return typeof type === "string" ? [type] : asList(type).filter((t) => typeof t === "string");
}

export const nullable = (schema: Schema): boolean => typesOf(schema).includes("null");

const BY_TYPE: Record<string, Shape> = {
  string: "text",
  number: "number",
  integer: "number",
  boolean: "boolean",
  object: "object",
  array: "array",
};

export function shapeOf(schema: Schema): Shape {
  if ("const" in schema) return "constant";
  if (choices(schema).length) return "choice";
  if (variants(schema).length) return "either";
  const [type, ...others] = typesOf(schema).filter((one) => one !== "null");
  if (type && !others.length) return BY_TYPE[type] ?? "raw";
  return isObject(schema.properties) ? "object" : "raw";
}

export interface Choice {
  value: Json;
  label: string;
}

/** The values to choose from: `enum`, or alternatives that are one constant each. */
export function choices(schema: Schema): Choice[] {
  const names = asList(schema.enumNames);
  if (Array.isArray(schema.enum))
    return schema.enum.map((value, index) => ({ value, label: String(names[index] ?? value) }));
  const alternatives = [...asList(schema.oneOf), ...asList(schema.anyOf)].filter(isObject);
  if (!alternatives.length || !alternatives.every((one) => "const" in one)) return [];
  return alternatives.map((one) => ({
    value: one.const as Json,
    label: String(one.title ?? one.const),
  }));
}

export function variants(schema: Schema): Schema[] {
  return [...asList(schema.anyOf), ...asList(schema.oneOf)].filter(isObject);
}

export function variantLabel(schema: Schema, index: number): string {
  const types = typesOf(schema).join(" or ");
  return String(schema.title ?? (types || (schema.const ?? `alternative ${index + 1}`)));
}

/** What a form shows before anything is typed: defaults, and the objects that must be there. */
export function initial(
  schema: Schema,
  root: Schema,
  required: boolean,
  depth = 0,
): Json | undefined {
  const known = resolved(schema, root);
  if ("default" in known) return known.default;
  if ("const" in known && required) return known.const;
  if (shapeOf(known) !== "object" || depth > 5 || !(required || depth === 0)) return undefined;
  return initialObject(known, root, depth);
}

function initialObject(schema: Schema, root: Schema, depth: number): JsonObject {
  const value: JsonObject = {};
  const needed = asList(schema.required);
  for (const [name, part] of Object.entries(asObject(schema.properties))) {
    const first = initial(resolved(part, root), root, needed.includes(name), depth + 1);
    if (first !== undefined) value[name] = first;
  }
  return value;
}

/** The first variant that a value fits, by its type and its members. */
export function variantOf(schemas: Schema[], value: Json | undefined): number {
  const fits = schemas.findIndex((schema) => fitsType(schema, value));
  return fits < 0 ? 0 : fits;
}

function fitsType(schema: Schema, value: Json | undefined): boolean {
  if ("const" in schema) return schema.const === value;
  const types = typesOf(schema);
  if (isObject(schema.properties) && isObject(value)) {
    const needed = asList(schema.required).every((name) => String(name) in value);
    return (
      needed &&
      Object.entries(schema.properties).every(
        ([name, part]) =>
          !(name in value) || !isObject(part) || !("const" in part) || part.const === value[name],
      )
    );
  }
  return types.includes(typeName(value));
}

export function typeName(value: Json | undefined): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  if (typeof value === "number") return Number.isInteger(value) ? "integer" : "number";
  return typeof value;
}
