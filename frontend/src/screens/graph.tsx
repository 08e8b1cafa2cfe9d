/** Servers, their tools and the virtual tools made of them, left to right. */
import { useMemo } from "preact/hooks";
import { go, href } from "../router";
import type { ToolRow } from "../types";
import { Empty } from "../ui/states";
import { plain } from "../ui/text";
import "./graph.css";

const MOST = 240;
const ROW = 34;
const COLUMN = 250;
const BOX = { width: 200, height: 24 };

interface Spot {
  key: string;
  label: string;
  x: number;
  y: number;
  tool?: ToolRow;
}

interface Plan {
  spots: Spot[];
  lines: [Spot, Spot][];
  width: number;
  height: number;
}

export function Graph({ found }: { found: ToolRow[] }) {
  const plan = useMemo(() => layOut(found.slice(0, MOST)), [found]);
  if (!found.length) return <Empty icon="graph" title="No tool matches" />;
  return (
    <div class="graph" tabIndex={0} role="group" aria-label="Graph of servers and tools">
      {found.length > MOST && (
        <p class="hint">
          {MOST} of {found.length.toLocaleString()} tools are drawn: search to see others.
        </p>
      )}
      <svg width={plan.width} height={plan.height} viewBox={`0 0 ${plan.width} ${plan.height}`}>
        {plan.lines.map(([from, to]) => (
          <path key={`${from.key}>${to.key}`} class="edge" d={curve(from, to)} />
        ))}
        {plan.spots.map((spot) => (
          <SpotBox key={spot.key} spot={spot} />
        ))}
      </svg>
    </div>
  );
}

function SpotBox({ spot }: { spot: Spot }) {
  const { tool } = spot;
  const off = tool?.unavailable ? "off" : "";
  const open = () =>
    go(tool ? href("explore", ["tools", tool.name]) : href("explore", [], { owner: spot.label }));
  return (
    <g
      class={`spot ${tool ? (tool.source ? "virtual" : "base") : "owner"} ${off}`}
      transform={`translate(${spot.x} ${spot.y})`}
      role="link"
      tabindex={0}
      aria-label={spot.label}
      onClick={open}
      onKeyDown={(event) => event.key === "Enter" && open()}
    >
      <title>{tool?.unavailable ?? tool?.description ?? spot.label}</title>
      <rect width={BOX.width} height={BOX.height} rx="5" />
      <text x="10" y="16">
        {shortened(spot.label)}
      </text>
      {tool?.projected && <circle cx={BOX.width - 12} cy={12} r="3" class="projected" />}
    </g>
  );
}

function shortened(text: string): string {
  const shown = plain(text);
  return shown.length > 25 ? `${shown.slice(0, 24)}…` : shown;
}

function curve(from: Spot, to: Spot): string {
  const x1 = from.x + BOX.width;
  const y1 = from.y + BOX.height / 2;
  const y2 = to.y + BOX.height / 2;
  const middle = (x1 + to.x) / 2;
  return `M${x1} ${y1}C${middle} ${y1} ${middle} ${y2} ${to.x} ${y2}`;
}

/** Leaves get a line each, parents stand in the middle of theirs. */
function layOut(tools: ToolRow[]): Plan {
  const names = new Set(tools.map((tool) => tool.name));
  const below = new Map<string, ToolRow[]>();
  for (const tool of tools) {
    const parent = tool.source && tool.source !== tool.name && names.has(tool.source);
    const key = parent ? `tool:${tool.source}` : `owner:${tool.owner}`;
    below.set(key, [...(below.get(key) ?? []), tool]);
  }
  const plan: Plan = { spots: [], lines: [], width: 0, height: 0 };
  let next = 12;
  const place = (key: string, label: string, level: number, tool?: ToolRow): Spot => {
    const spot: Spot = { key, label, x: 12 + level * COLUMN, y: 0, ...(tool ? { tool } : {}) };
    const children = level > 12 ? [] : (below.get(key) ?? []);
    const placed = children.map((one) => place(`tool:${one.name}`, one.name, level + 1, one));
    if (placed.length) spot.y = (placed[0]!.y + placed.at(-1)!.y) / 2;
    else {
      spot.y = next;
      next += ROW;
    }
    plan.spots.push(spot);
    for (const child of placed) plan.lines.push([spot, child]);
    plan.width = Math.max(plan.width, spot.x + BOX.width + 12);
    return spot;
  };
  for (const owner of new Set(tools.map((tool) => tool.owner))) {
    place(`owner:${owner}`, owner, 0);
    next += 8;
  }
  plan.height = next;
  return plan;
}
