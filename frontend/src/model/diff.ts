/** The difference between two texts, line by line. */

export interface Line {
  kind: "same" | "gone" | "new";
  text: string;
  left?: number;
  right?: number;
}

const MOST_LINES = 4000;
const MOST_WORK = 4_000_000;

export function diff(left: string, right: string): Line[] {
  const a = left.split("\n").slice(0, MOST_LINES);
  const b = right.split("\n").slice(0, MOST_LINES);
  const start = commonStart(a, b);
  const end = commonEnd(a, b, start);
  const middle = edits(a.slice(start, a.length - end), b.slice(start, b.length - end));
  const kinds: Line["kind"][] = [
    ...new Array<"same">(start).fill("same"),
    ...middle,
    ...new Array<"same">(end).fill("same"),
  ];
  return numbered(kinds, a, b);
}

/** A comma at the end says only that more follows. */
function equal(one: string, other: string): boolean {
  return one === other || one.replace(/,$/, "") === other.replace(/,$/, "");
}

function commonStart(a: string[], b: string[]): number {
  let n = 0;
  while (n < a.length && n < b.length && equal(a[n]!, b[n]!)) n++;
  return n;
}

function commonEnd(a: string[], b: string[], start: number): number {
  let n = 0;
  const most = Math.min(a.length, b.length) - start;
  while (n < most && equal(a[a.length - 1 - n]!, b[b.length - 1 - n]!)) n++;
  return n;
}

function numbered(kinds: Line["kind"][], a: string[], b: string[]): Line[] {
  let left = 0;
  let right = 0;
  return kinds.map((kind) => {
    if (kind === "gone") return { kind, text: a[left]!, left: ++left };
    if (kind === "new") return { kind, text: b[right]!, right: ++right };
    left++;
    return { kind, text: b[right]!, left, right: ++right };
  });
}

/** The longest common subsequence; where that would take too long, all went and all came. */
function edits(a: string[], b: string[]): Line["kind"][] {
  if (a.length * b.length > MOST_WORK)
    return [...a.map(() => "gone" as const), ...b.map(() => "new" as const)];
  const width = b.length + 1;
  const common = new Uint16Array((a.length + 1) * width);
  for (let i = a.length - 1; i >= 0; i--)
    for (let j = b.length - 1; j >= 0; j--)
      common[i * width + j] = equal(a[i]!, b[j]!)
        ? common[(i + 1) * width + j + 1]! + 1
        : Math.max(common[(i + 1) * width + j]!, common[i * width + j + 1]!);
  const kinds: Line["kind"][] = [];
  let i = 0;
  let j = 0;
  while (i < a.length || j < b.length) {
    const goneFirst = common[(i + 1) * width + j]! >= common[i * width + j + 1]!;
    if (i < a.length && j < b.length && equal(a[i]!, b[j]!)) {
      kinds.push("same");
      i++;
      j++;
    } else if (i < a.length && (j === b.length || goneFirst)) {
      kinds.push("gone");
      i++;
    } else {
      kinds.push("new");
      j++;
    }
  }
  return kinds;
}
