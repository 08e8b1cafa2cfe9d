/** The last real result of each tool, as its source gave it: what fields are picked from. */
import { parse } from "../json.ts";
import { Store } from "../store";
import { isObject, type Json, type JsonObject, type Stage } from "../types.ts";

export interface LastResult {
  /** What the tool underneath returned. */
  raw: JsonObject;
  tokens: number;
}

const MOST = 50;

export const results = new Store<ReadonlyMap<string, LastResult>>(new Map());

export function keepResult(name: string, result: JsonObject, stages: Stage[]): void {
  if (result.isError === true) return;
  const returned = stages.filter((stage) => stage.name === "returned");
  // Of several hops none is the tool's: what it made of them is.
  const hop = returned.length === 1 ? returned[0] : undefined;
  const raw = hop && isObject(hop.value) ? hop.value : result;
  const tokens = hop?.tokens ?? stages.at(-1)?.tokens ?? 0;
  const kept = [...results.value].filter(([other]) => other !== name).slice(1 - MOST);
  results.set(new Map([...kept, [name, { raw, tokens }]]));
}

/** The JSON of a result, as a step after it would get it; else its text. */
export function jsonIn(result: JsonObject): Json {
  if (result.structuredContent !== undefined) return result.structuredContent;
  const blocks = Array.isArray(result.content) ? result.content : [];
  const texts = blocks.flatMap((one) =>
    isObject(one) && typeof one.text === "string" ? [one.text] : [],
  );
  const text = texts.join("\n");
  try {
    return parse(text);
  } catch {
    return text;
  }
}
