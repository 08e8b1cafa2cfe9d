/** What is tried: which method, which form, and how the form's values become params. */
import { events } from "../api";
import { compact } from "../json.ts";
import { isObject, type Detail, type JsonObject } from "../types.ts";
import { asList, asObject, type Schema } from "./schema.ts";
import { isApp } from "./signs.ts";

export interface Subject {
  method: string;
  schema: Schema;
  params: (values: JsonObject) => JsonObject;
  values: (params: JsonObject) => JsonObject;
  /** The reference that its arguments are completed by. */
  ref?: JsonObject;
}

const given = (params: JsonObject) => asObject(params.arguments);

export function subjectOf(detail: Detail): Subject {
  const { name, definition } = detail;
  if (detail.kind === "prompts")
    return {
      method: "prompts/get",
      schema: schemaOfPrompt(definition),
      params: (values) => ({ name, arguments: values }),
      values: given,
      ref: { type: "ref/prompt", name },
    };
  if (detail.kind === "resources")
    return {
      method: "resources/read",
      schema: { type: "object", properties: {}, additionalProperties: false },
      params: () => ({ uri: name }),
      values: () => ({}),
    };
  if (detail.kind === "templates")
    return {
      method: "resources/read",
      schema: schemaOfTemplate(name),
      params: (values) => ({ uri: expanded(name, values) }),
      values: () => ({}),
      ref: { type: "ref/resource", uri: name },
    };
  return {
    method: "tools/call",
    schema: asObject(definition.inputSchema),
    params: (values) => ({ name, arguments: values }),
    values: given,
  };
}

function schemaOfPrompt(definition: JsonObject): Schema {
  const all = asList(definition.arguments).filter(isObject);
  const properties = all.map((one) => {
    const { name, required: _, ...rest } = one;
    return [String(name), { type: "string", ...rest }] as const;
  });
  const required = all.filter((one) => one.required === true).map((one) => String(one.name));
  return {
    type: "object",
    properties: Object.fromEntries(properties),
    required,
    additionalProperties: false,
  };
}

const VARIABLE = /\{[+#./;?&]?([^}*:]+)[^}]*\}/g;

function schemaOfTemplate(template: string): Schema {
  const names = [...template.matchAll(VARIABLE)].flatMap((found) => found[1]!.split(","));
  return {
    type: "object",
    properties: Object.fromEntries(names.map((name) => [name, { type: "string" }])),
    required: names,
    additionalProperties: false,
  };
}

function expanded(template: string, values: JsonObject): string {
  return template.replace(VARIABLE, (_, names: string) =>
    names
      .split(",")
      .map((name) => encodeURIComponent(String(values[name] ?? "")))
      .join(","),
  );
}

/** What could stand in an argument, says the server. */
export async function complete(
  ref: JsonObject,
  name: string,
  value: string,
  others: JsonObject,
): Promise<string[]> {
  const context = {
    arguments: Object.fromEntries(Object.entries(others).filter(([key]) => key !== name)),
  };
  const result = await asked("completion/complete", { ref, argument: { name, value }, context });
  return asList(asObject(result.completion).values).map(String);
}

/** The HTML of a page of MCP Apps. */
export async function readApp(uri: string): Promise<string> {
  const { contents } = await asked("resources/read", { uri });
  const page = asList(contents).filter(isObject).find(isApp);
  if (!page) throw new Error(`${uri} is not a page of MCP Apps.`);
  return String(page.text);
}

/** The result of a call that is made beside what is tried; empty where it has none. */
async function asked(method: string, params: JsonObject): Promise<JsonObject> {
  const body = compact({ method, params });
  for await (const event of events("calls", { method: "POST", body }))
    if (event.name === "result") return asObject(asObject(event.data).result);
  return {};
}
