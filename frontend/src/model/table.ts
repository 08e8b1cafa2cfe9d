/** Is this value a table? A list of objects, alone or as the one list of an object. */
import { isObject, type Json, type JsonObject } from "../types.ts";

export interface Table {
  columns: string[];
  rows: JsonObject[];
}

const MOST_COLUMNS = 24;

export function tableOf(value: Json | undefined): Table | null {
  if (Array.isArray(value)) return ofRows(value);
  if (!isObject(value)) return null;
  const lists = Object.values(value).filter(
    (part) => Array.isArray(part) && part.length > 0 && part.every(isObject),
  );
  return lists.length === 1 ? ofRows(lists[0] as Json[]) : null;
}

function ofRows(values: Json[]): Table | null {
  if (!values.length || !values.every(isObject)) return null;
  const rows = values as JsonObject[];
  const columns = [...new Set(rows.slice(0, 200).flatMap((row) => Object.keys(row)))];
  return columns.length && columns.length <= MOST_COLUMNS ? { columns, rows } : null;
}
