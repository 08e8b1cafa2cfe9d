/** Which of the recorded calls are shown, and under which headings. */
import type { TrafficLine } from "../types.ts";

export const GROUPS = ["none", "call", "client", "server"] as const;
export type Group = (typeof GROUPS)[number];

export interface Filter {
  words: string;
  outcome: string;
  /** Without what clients ask by themselves, again and again. */
  quiet: boolean;
}

export type LineRow = { line: TrafficLine } | { heading: string; calls: number; failed: number };

const ROUTINE = /^(ping|.+\/list)$/;

export function matching(lines: readonly TrafficLine[], filter: Filter): TrafficLine[] {
  const wanted = filter.words.toLowerCase().split(/\s+/).filter(Boolean);
  return lines.filter((line) => {
    const text = `${line.method} ${line.name} ${line.client} ${line.to ?? ""}`.toLowerCase();
    return (
      (filter.outcome === "all" || line.outcome === filter.outcome) &&
      !(filter.quiet && ROUTINE.test(line.method)) &&
      wanted.every((word) => text.includes(word))
    );
  });
}

/** The group with the newest call comes first. */
export function underHeadings(lines: readonly TrafficLine[], group: Group): LineRow[] {
  if (group === "none") return lines.map((line) => ({ line }));
  const groups = new Map<string, TrafficLine[]>();
  for (const line of lines) {
    const heading = headingOf(line, group);
    const others = groups.get(heading);
    if (others) others.push(line);
    else groups.set(heading, [line]);
  }
  return [...groups].flatMap(([heading, members]): LineRow[] => [
    {
      heading,
      calls: members.length,
      failed: members.filter((line) => line.outcome === "error").length,
    },
    ...members.map((line) => ({ line })),
  ]);
}

function headingOf(line: TrafficLine, group: Group): string {
  if (group === "call") return line.name || line.method;
  if (group === "client") return line.client || line.caller || "unknown client";
  return line.to ?? "no server";
}
