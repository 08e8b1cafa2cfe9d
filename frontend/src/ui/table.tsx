/** A list of objects as a table: sorted by a column on request. */
import { useMemo, useState } from "preact/hooks";
import { thousands } from "../format";
import { compact } from "../json";
import type { Table } from "../model/table";
import type { Json } from "../types";
import { Text } from "./text";

const AT_ONCE = 200;

export function TableView({ table }: { table: Table }) {
  const [by, setBy] = useState<{ column: string; down: boolean } | null>(null);
  const [most, setMost] = useState(AT_ONCE);
  const rows = useMemo(() => {
    if (!by) return table.rows;
    const sign = by.down ? -1 : 1;
    return [...table.rows].sort((a, b) => sign * order(a[by.column], b[by.column]));
  }, [table, by]);
  return (
    <div class="table-box" tabIndex={0}>
      <table class="data">
        <thead>
          <tr>
            {table.columns.map((column) => (
              <th
                key={column}
                aria-sort={sorted(by, column)}
                {...(isNumber(table.rows[0]?.[column]) ? { class: "number" } : {})}
              >
                <button
                  type="button"
                  onClick={() => setBy({ column, down: by?.column === column && !by.down })}
                >
                  <Text of={column} />
                </button>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.slice(0, most).map((row, index) => (
            <tr key={index}>
              {table.columns.map((column) => (
                <Cell key={column} value={row[column]} />
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {rows.length > most && (
        <button type="button" class="link" onClick={() => setMost(most + AT_ONCE)}>
          {thousands(rows.length - most)} more rows
        </button>
      )}
    </div>
  );
}

const isNumber = (value: Json | undefined) =>
  typeof value === "number" || typeof value === "bigint";

function Cell({ value }: { value: Json | undefined }) {
  const text = value === undefined ? "" : typeof value === "string" ? value : compact(value);
  return (
    <td class={isNumber(value) ? "number" : ""}>
      <Text of={text.length > 400 ? `${text.slice(0, 400)}…` : text} />
    </td>
  );
}

function sorted(by: { column: string; down: boolean } | null, column: string) {
  if (by?.column !== column) return "none";
  return by.down ? "descending" : "ascending";
}

function order(a: Json | undefined, b: Json | undefined): number {
  if (typeof a === "number" && typeof b === "number") return a - b;
  return String(a ?? "").localeCompare(String(b ?? ""), undefined, { numeric: true });
}
