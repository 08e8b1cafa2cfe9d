/** Servers, their tools, and what is made of them, left to right. */
import { useMemo } from "preact/hooks";
import { thousands } from "../format";
import { go, href } from "../router";
import { BOX, layOut, type Spot } from "../model/graph";
import type { Owner } from "../model/outline";
import type { ToolRow } from "../types";
import { Empty } from "../ui/states";
import { plain } from "../ui/text";
import "./graph.css";

const MOST = 240;

interface Drawn {
  found: ToolRow[];
  /** What clients see: a source that is not among it is hidden from them. */
  all: readonly ToolRow[];
  owners: readonly Owner[];
  empty: readonly Owner[];
}

export function Graph({ found, all, owners, empty }: Drawn) {
  const plan = useMemo(
    () => layOut(found.slice(0, MOST), all, owners, empty),
    [found, all, owners, empty],
  );
  if (!found.length && !empty.length) return <Empty icon="graph" title="No tool matches" />;
  return (
    <div class="graph" tabIndex={0} role="group" aria-label="Graph of servers and tools">
      {found.length > MOST && (
        <p class="hint">
          {MOST} of {thousands(found.length)} tools are drawn: search to see others.
        </p>
      )}
      <svg width={plan.width} height={plan.height} viewBox={`0 0 ${plan.width} ${plan.height}`}>
        {plan.lines.map(({ from, to, uses }) => (
          <path
            key={`${from.key}>${to.key}`}
            class={uses ? "edge uses" : "edge"}
            d={curve(from, to)}
          />
        ))}
        {plan.spots.map((spot) => (
          <SpotBox key={spot.key} spot={spot} />
        ))}
      </svg>
      <p class="hint">
        Green: made from others. Broken lines lead to compositions. Dotted: hidden from clients.
        Red: not available.
      </p>
    </div>
  );
}

function SpotBox({ spot }: { spot: Spot }) {
  const { tool, owner } = spot;
  const down = owner?.state === "failed" || tool?.unavailable;
  const look = down ? "off" : owner?.state === "disabled" ? "hidden" : "";
  const open = () =>
    go(tool ? href("explore", ["tools", tool.name]) : href("explore", [], { owner: spot.server }));
  return (
    <g
      class={`spot ${spot.kind} ${look}`}
      transform={`translate(${spot.x} ${spot.y})`}
      role="link"
      tabindex={0}
      aria-label={labelOf(spot)}
      onClick={open}
      onKeyDown={(event) => event.key === "Enter" && open()}
    >
      <title>{plain(tool?.unavailable ?? tool?.description ?? labelOf(spot))}</title>
      <rect width={BOX.width} height={BOX.height} rx="5" />
      <text x="10" y="16">
        {shortened(spot.label)}
      </text>
      {tool?.projected && <circle cx={BOX.width - 12} cy={12} r="3" class="projected" />}
    </g>
  );
}

function labelOf({ kind, label, owner }: Spot): string {
  if (kind === "hidden") return `${label}, hidden from clients`;
  if (!owner || owner.state === "ready") return label;
  return [label, owner.state, owner.why].filter(Boolean).join(", ");
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
