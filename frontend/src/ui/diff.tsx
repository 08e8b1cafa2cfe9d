/** Two texts beside each other; on a narrow screen, one below the other. */
import { useMemo, useState } from "preact/hooks";
import { diff, type Line } from "../model/diff";
import { Text } from "./text";

const AROUND = 3;

interface Pair {
  left?: Line;
  right?: Line;
}

export function DiffView({
  left,
  right,
  leftTitle,
  rightTitle,
  equal = "Clients see exactly what the source says.",
}: {
  left: string;
  right: string;
  leftTitle: string;
  rightTitle: string;
  equal?: string;
}) {
  const [all, setAll] = useState(false);
  const lines = useMemo(() => diff(left, right), [left, right]);
  const changes = lines.filter((line) => line.kind !== "same").length;
  const pairs = useMemo(() => paired(lines), [lines]);
  const shown = all || !changes ? pairs.map((pair) => [pair]) : folded(pairs);
  return (
    <div class="diff">
      <div class="diff-head">
        <span>
          <b class="sign gone">−</b> {leftTitle}
        </span>
        <span>
          <b class="sign new">+</b> {rightTitle}
        </span>
      </div>
      {!changes && <p class="hint">{equal}</p>}
      <div class="diff-body" tabIndex={0}>
        {shown.map((group, index) =>
          group.length === 1 ? (
            <PairRow key={index} pair={group[0]!} />
          ) : (
            <button type="button" key={index} class="diff-gap" onClick={() => setAll(true)}>
              {group.length} equal lines
            </button>
          ),
        )}
      </div>
    </div>
  );
}

function PairRow({ pair }: { pair: Pair }) {
  return (
    <div class="diff-row">
      <Side line={pair.left} number={pair.left?.left} />
      <Side line={pair.right} number={pair.right?.right} />
    </div>
  );
}

function Side({ line, number }: { line: Line | undefined; number: number | undefined }) {
  const sign = { same: " ", gone: "−", new: "+" }[line?.kind ?? "same"];
  return (
    <div class={`diff-side ${line?.kind ?? "none"}`}>
      <span class="number">{number}</span>
      <span class="sign">{sign}</span>
      <code>{line && <Text of={line.text} />}</code>
    </div>
  );
}

/** What went stands beside what came. */
function paired(lines: Line[]): Pair[] {
  const pairs: Pair[] = [];
  for (let index = 0; index < lines.length; ) {
    if (lines[index]!.kind === "same") {
      pairs.push({ left: lines[index]!, right: lines[index]! });
      index++;
      continue;
    }
    const gone: Line[] = [];
    const fresh: Line[] = [];
    for (; index < lines.length && lines[index]!.kind !== "same"; index++)
      (lines[index]!.kind === "gone" ? gone : fresh).push(lines[index]!);
    for (let row = 0; row < Math.max(gone.length, fresh.length); row++) {
      const pair: Pair = {};
      if (gone[row]) pair.left = gone[row]!;
      if (fresh[row]) pair.right = fresh[row]!;
      pairs.push(pair);
    }
  }
  return pairs;
}

/** Long runs of equal lines become one group. */
function folded(pairs: Pair[]): Pair[][] {
  const near = pairs.map(() => false);
  pairs.forEach((pair, index) => {
    if (pair.left === pair.right) return;
    for (let i = index - AROUND; i <= index + AROUND; i++) if (i in near) near[i] = true;
  });
  const groups: Pair[][] = [];
  pairs.forEach((pair, index) => {
    const previous = groups.at(-1);
    if (!near[index] && index > 0 && !near[index - 1] && previous) previous.push(pair);
    else groups.push([pair]);
  });
  return groups;
}
