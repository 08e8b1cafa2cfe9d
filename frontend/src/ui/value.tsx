/** One JSON value, as the reader likes it: tree, table or text. */
import { useMemo, useState } from "preact/hooks";
import { pretty } from "../json";
import { tableOf } from "../model/table";
import type { Json } from "../types";
import { CopyButton } from "./controls";
import { TableView } from "./table";
import { LongText, Text } from "./text";
import { JsonTree } from "./tree";

type Way = "tree" | "table" | "text";

export function ValueView({ value, title }: { value: Json; title?: string }) {
  const table = useMemo(() => tableOf(value), [value]);
  const [chosen, setWay] = useState<Way | null>(null);
  const way = chosen ?? (table ? "table" : "tree");
  const ways: Way[] = table ? ["table", "tree", "text"] : ["tree", "text"];
  return (
    <div class="value">
      <div class="value-head">
        {title && (
          <span class="value-title">
            <Text of={title} />
          </span>
        )}
        <Choice ways={ways} way={way} choose={setWay} />
        <CopyButton text={() => pretty(value)} />
      </div>
      {way === "table" && table && <TableView table={table} />}
      {way === "tree" && <JsonTree value={value} />}
      {way === "text" && <LongText of={pretty(value)} code />}
    </div>
  );
}

export function Choice<T extends string>({
  ways,
  way,
  choose,
  label = "Show as",
}: {
  ways: T[];
  way: T;
  choose: (way: T) => void;
  label?: string;
}) {
  return (
    <span class="choice" role="group" aria-label={label}>
      {ways.map((one) => (
        <button type="button" key={one} aria-pressed={one === way} onClick={() => choose(one)}>
          {one}
        </button>
      ))}
    </span>
  );
}
