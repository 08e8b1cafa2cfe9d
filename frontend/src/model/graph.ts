/**
 * Where servers and tools stand in the graph, and what is joined to what.
 *
 * A server and the tools made from its tools are a tree: leaves get a line each, parents stand in
 * the middle of theirs, or where the first of many still are in sight. Compositions may be made of anything, so they and what is made of them
 * stand right of all trees, each as high as what it is made of on average.
 */
import type { ToolRow } from "../types.ts";
import type { Owner } from "./outline.ts";

const ROW = 34;
const COLUMN = 250;
const EDGE = 12;
const GAP = 8;
const DEEPEST = 12;
/** Further down than this below its first child, nobody would see what many come from. */
const IN_SIGHT = 6 * ROW;
export const BOX = { width: 200, height: 24 };

export interface Spot {
  key: string;
  kind: "owner" | "base" | "virtual" | "composed" | "hidden";
  label: string;
  server: string;
  x: number;
  y: number;
  tool?: ToolRow;
  owner?: Owner;
}

export interface Line {
  from: Spot;
  to: Spot;
  /** From a tool to a composition that calls it. */
  uses: boolean;
}

export interface Plan {
  spots: Spot[];
  lines: Line[];
  width: number;
  height: number;
}

type Named = Omit<Spot, "x" | "y">;

/** `drawn` are the tools to show, `all` those that clients see; of `empty` servers no tool is. */
export function layOut(
  drawn: readonly ToolRow[],
  all: readonly ToolRow[],
  owners: readonly Owner[],
  empty: readonly Owner[],
): Plan {
  const seen = new Seen(all, drawn);
  const plan = new Planner();
  const late = drawn.filter((tool) => seen.depth(tool.name));
  const early = drawn.filter((tool) => !seen.depth(tool.name));
  const below = byParent(early, seen);
  const bare = (off: boolean) =>
    empty.filter((one) => (one.state === "disabled") === off).map((one) => one.name);
  const names = new Set([...bare(false), ...early.map((tool) => tool.owner), ...bare(true)]);
  for (const name of names) {
    const owner = owners.find((one) => one.name === name);
    const named: Named = { key: `owner:${name}`, kind: "owner", label: name, server: name };
    plan.tree(owner ? { ...named, owner } : named, 0, below);
    plan.height += GAP;
  }
  for (const tool of late)
    for (const name of tool.uses ?? []) if (!seen.has(name)) plan.unseen(name, tool.owner);
  plan.late(late, seen);
  return plan;
}

/** What clients see, and what is made of what. */
class Seen {
  private readonly tools: ReadonlyMap<string, ToolRow>;
  private readonly offered: ReadonlyMap<string, string>;
  private readonly drawn: ReadonlySet<string>;
  private readonly depths = new Map<string, number>();

  constructor(all: readonly ToolRow[], drawn: readonly ToolRow[]) {
    this.tools = new Map(all.map((tool) => [tool.name, tool]));
    this.drawn = new Set(drawn.map((tool) => tool.name));
    const straight = all.filter((tool) => tool.origin !== "registry" && tool.original);
    this.offered = new Map(straight.map((tool) => [originalOf(tool), tool.name]));
  }

  has(name: string): boolean {
    return this.tools.has(name);
  }

  /** The tool that it is made of, as clients see it; else what it is called where it comes from. */
  source(tool: ToolRow): string {
    const original = tool.origin === "registry" ? (tool.original ?? "") : "";
    const source = tool.source || (this.offered.get(originalOf(tool)) ?? original);
    return source === tool.name ? "" : source;
  }

  parents(tool: ToolRow): string[] {
    const source = this.source(tool);
    return (tool.uses ?? (source ? [source] : [])).filter((name) => this.drawn.has(name));
  }

  /** How many compositions and tools made of them lead to it; 0 where none does. */
  depth(name: string): number {
    const tool = this.tools.get(name);
    if (!tool) return 0;
    const known = this.depths.get(name);
    if (known !== undefined) return known;
    this.depths.set(name, 0);
    const before = Math.max(0, ...this.parents(tool).map((parent) => this.depth(parent)));
    const depth = tool.uses || before ? before + 1 : 0;
    this.depths.set(name, depth);
    return depth;
  }
}

const originalOf = (tool: ToolRow) => JSON.stringify([tool.owner, tool.original]);

function byParent(tools: readonly ToolRow[], seen: Seen): Map<string, Named[]> {
  const below = new Map<string, Named[]>();
  const put = (parent: string, spot: Named) => {
    const others = below.get(parent) ?? [];
    if (!others.some((one) => one.key === spot.key)) below.set(parent, [...others, spot]);
  };
  for (const tool of tools) {
    const { owner: server } = tool;
    const source = seen.source(tool);
    const [parent] = seen.parents(tool);
    let key = parent ? `tool:${parent}` : `owner:${server}`;
    if (source && !seen.has(source)) {
      const hidden = hiddenSpot(source, server);
      put(key, hidden);
      key = hidden.key;
    }
    put(key, toolSpot(tool, source ? "virtual" : "base"));
  }
  return below;
}

function hiddenSpot(label: string, server: string): Named {
  return { key: `hidden:${server}:${label}`, kind: "hidden", label, server };
}

function toolSpot(tool: ToolRow, kind: Spot["kind"]): Named {
  return { key: `tool:${tool.name}`, kind, label: tool.name, server: tool.owner, tool };
}

class Planner implements Plan {
  spots: Spot[] = [];
  lines: Line[] = [];
  width = 0;
  height = EDGE;
  private readonly placed = new Map<string, Spot>();

  tree(named: Named, level: number, below: ReadonlyMap<string, Named[]>): Spot {
    const children = level > DEEPEST ? [] : (below.get(named.key) ?? []);
    const spots = children.map((child) => this.tree(child, level + 1, below));
    const first = spots[0];
    const y = first ? Math.min((first.y + spots.at(-1)!.y) / 2, first.y + IN_SIGHT) : this.line();
    const spot = this.put(named, EDGE + level * COLUMN, y);
    for (const child of spots) this.lines.push({ from: spot, to: child, uses: false });
    return spot;
  }

  /** A tool that a composition calls and clients do not see. */
  unseen(name: string, server: string): void {
    const named = hiddenSpot(name, server);
    if (!this.placed.has(named.key)) this.put(named, EDGE + COLUMN, this.line());
  }

  /** Compositions and what is made of them, a column for each depth. */
  late(tools: readonly ToolRow[], seen: Seen): void {
    const start = this.width;
    const depth = (tool: ToolRow) => seen.depth(tool.name);
    const ends: number[] = [];
    for (const tool of [...tools].sort((a, b) => depth(a) - depth(b))) {
      const column = Math.min(depth(tool), DEEPEST) - 1;
      const from = this.sources(tool, seen);
      const middle = from.reduce((sum, spot) => sum + spot.y, 0) / Math.max(1, from.length);
      const y = Math.max(ends[column] ?? EDGE, middle);
      const named = toolSpot(tool, tool.uses ? "composed" : "virtual");
      const spot = this.put(named, start + COLUMN - BOX.width - EDGE + column * COLUMN, y);
      ends[column] = y + ROW;
      const uses = tool.uses !== undefined;
      for (const one of from) this.lines.push({ from: one, to: spot, uses });
    }
    this.height = Math.max(this.height, ...ends.filter(Boolean));
  }

  private sources(tool: ToolRow, seen: Seen): Spot[] {
    const hidden = (tool.uses ?? []).filter((name) => !seen.has(name));
    const keys = [
      ...seen.parents(tool).map((name) => `tool:${name}`),
      ...hidden.map((name) => hiddenSpot(name, tool.owner).key),
    ];
    return keys.map((key) => this.placed.get(key)).filter((spot) => spot !== undefined);
  }

  private line(): number {
    this.height += ROW;
    return this.height - ROW;
  }

  private put(named: Named, x: number, y: number): Spot {
    const spot: Spot = { ...named, x, y };
    this.spots.push(spot);
    this.placed.set(spot.key, spot);
    this.width = Math.max(this.width, x + BOX.width + EDGE);
    return spot;
  }
}
