/** What can stand where the cursor is: keys and values from the schema, and names of tools. */
import type { Completion, CompletionContext, CompletionResult } from "@codemirror/autocomplete";
import { placeAt } from "../../model/cursor";
import { asList, asObject, resolved, variants, type Schema } from "../../model/schema";
import { isObject, type Json } from "../../types";

/** Names that are known for a key: those of tools for `source`, of servers for `server`. */
export type Names = Record<string, string[]>;

interface Offered {
  schema?: Schema | null;
  names?: Names;
}

export function completions(context: CompletionContext, offered: Offered): CompletionResult | null {
  const text = context.state.doc.toString();
  const place = placeAt(text, context.pos);
  if (!place || (!context.explicit && !place.typed && !place.inString)) return null;
  const root = offered.schema ?? {};
  const here = schemaAt(root, place.path);
  const options = place.isKey
    ? keys(here, root, place.present)
    : values(here, offered.names?.[String(place.path.at(-1))] ?? [], place.inString);
  if (!options.length) return null;
  return { from: place.from, options, validFor: /^[\w$-]*$/ };
}

/** The schemas that may hold for the value there. */
function schemaAt(root: Schema, path: (string | number)[]): Schema[] {
  let found = alternatives(resolved(root, root), root);
  for (const part of path)
    found = found.flatMap((schema) => {
      const below =
        typeof part === "number"
          ? schema.items
          : (asObject(schema.properties)[part] ?? schema.additionalProperties);
      return isObject(below) ? alternatives(resolved(below, root), root) : [];
    });
  return found;
}

function alternatives(schema: Schema, root: Schema): Schema[] {
  return [schema, ...variants(schema).map((one) => resolved(one, root))];
}

function keys(schemas: Schema[], root: Schema, present: string[]): Completion[] {
  const found = new Map<string, Completion>();
  for (const schema of schemas)
    for (const [name, part] of Object.entries(asObject(schema.properties)))
      if (!found.has(name) && !present.includes(name))
        found.set(name, { label: name, type: "property", ...described(part, root) });
  return [...found.values()];
}

function described(part: Json, root: Schema): Partial<Completion> {
  const schema = resolved(part, root);
  const types = asList(schema.type).length ? asList(schema.type) : [schema.type];
  const detail = types.filter((type) => type !== "null" && typeof type === "string").join(" | ");
  return {
    ...(detail ? { detail } : {}),
    ...(typeof schema.description === "string" ? { info: schema.description } : {}),
  };
}

function values(schemas: Schema[], names: string[], inString: boolean): Completion[] {
  const stated = schemas.flatMap((schema) => asList(schema.enum));
  const flags = schemas.some((schema) => [schema.type].flat().includes("boolean"))
    ? [true, false]
    : [];
  const all = [...names, ...stated, ...flags].filter((value) => value !== null);
  return [...new Set(all)]
    .filter((value) => !inString || typeof value === "string")
    .map((value) => ({
      label: String(value),
      type: typeof value === "string" ? "text" : "keyword",
      apply: inString || typeof value !== "string" ? String(value) : JSON.stringify(value),
    }));
}
