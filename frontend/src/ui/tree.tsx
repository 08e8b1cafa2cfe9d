/** JSON as a tree that unfolds. Children exist only once they are looked at. */
import { useState } from "preact/hooks";
import { thousands } from "../format";
import { isObject, type Json } from "../types";
import { Icon } from "./icon";
import { Text } from "./text";

const AT_ONCE = 100;
const LONGEST = 300;

export function JsonTree({ value, depth = 2 }: { value: Json; depth?: number }) {
  return (
    <div class="tree" role="tree" aria-label="JSON">
      <Node value={value} open={depth} />
    </div>
  );
}

function Node({ name, value, open }: { name?: string; value: Json; open: number }) {
  const branch = Array.isArray(value) || isObject(value);
  const [unfolded, setUnfolded] = useState(open > 0);
  const [most, setMost] = useState(AT_ONCE);
  const label = name !== undefined && (
    <span class="key">
      <Text of={name} />
    </span>
  );
  if (!branch)
    return (
      <div class="node" role="treeitem">
        {label}
        <Leaf value={value} />
      </div>
    );
  const members: [string, Json][] = Array.isArray(value)
    ? value.map((part, index) => [String(index), part])
    : Object.entries(value);
  const size = Array.isArray(value) ? `[${members.length}]` : `{${members.length}}`;
  return (
    <div class="node" role="treeitem" aria-expanded={unfolded}>
      <button
        type="button"
        class="twig"
        onClick={() => setUnfolded(!unfolded)}
        disabled={!members.length}
      >
        <Icon name={unfolded ? "down" : "right"} />
        {label}
        <span class="size">{size}</span>
      </button>
      {unfolded && members.length > 0 && (
        <div class="branch" role="group">
          {members.slice(0, most).map(([key, part]) => (
            <Node key={key} name={key} value={part} open={open - 1} />
          ))}
          {members.length > most && (
            <button type="button" class="link" onClick={() => setMost(most + 10 * AT_ONCE)}>
              {thousands(members.length - most)} more
            </button>
          )}
        </div>
      )}
    </div>
  );
}

function Leaf({ value }: { value: Json }) {
  const [all, setAll] = useState(false);
  if (typeof value !== "string") return <span class={`leaf ${typeof value}`}>{String(value)}</span>;
  const cut = !all && value.length > LONGEST;
  return (
    <span class="leaf string">
      <Text of={cut ? value.slice(0, LONGEST) : value.slice(0, 100_000)} whole />
      {cut && (
        <button type="button" class="link" onClick={() => setAll(true)}>
          … {thousands(value.length - LONGEST)} more
        </button>
      )}
    </span>
  );
}
