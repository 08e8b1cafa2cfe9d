/** JSON text to values and back with every integer exact: JavaScript's numbers round at 2^53. */
import { isObject, type Json } from "./types.ts";

type Reviver = (
  this: unknown,
  key: string,
  value: unknown,
  context?: { source?: string },
) => unknown;

const LONG_NUMBER = /\d{16}/;

const exact: Reviver = (_key, value, context) => {
  if (typeof value !== "number" || Number.isSafeInteger(value)) return value;
  const source = context?.source;
  return source && /^-?\d+$/.test(source) ? BigInt(source) : value;
};

export function parse(text: string): Json {
  return LONG_NUMBER.test(text) ? JSON.parse(text, exact as never) : JSON.parse(text);
}

interface RawJson {
  rawJSON?: (text: string) => unknown;
}

function spelled(_key: string, value: unknown): unknown {
  if (typeof value !== "bigint") return value;
  const raw = (JSON as RawJson).rawJSON;
  return raw ? raw(value.toString()) : Number(value);
}

export function pretty(value: Json | undefined): string {
  return JSON.stringify(value, spelled, 2) ?? "";
}

export function compact(value: Json | undefined): string {
  return JSON.stringify(value, spelled) ?? "";
}

/** Equal as JSON: the order of members means nothing. */
export function same(one: Json | undefined, other: Json | undefined): boolean {
  if (isObject(one) && isObject(other)) {
    const names = Object.keys(one);
    return (
      names.length === Object.keys(other).length &&
      names.every((name) => name in other && same(one[name], other[name]))
    );
  }
  if (Array.isArray(one) && Array.isArray(other))
    return one.length === other.length && one.every((part, at) => same(part, other[at]));
  return compact(one) === compact(other);
}
