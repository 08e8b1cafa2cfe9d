/** The last calls of all clients, as they happen; one of them in full. */
import { useMemo, useRef, useState } from "preact/hooks";
import { send } from "../api";
import { clock, ms, thousands } from "../format";
import { calls, refreshCalls } from "../live";
import { GROUPS, matching, underHeadings, type Group, type LineRow } from "../model/lines";
import { go, href, type Route } from "../router";
import { useStore } from "../store";
import type { TrafficLine } from "../types";
import { Badge, IconButton, SearchField } from "../ui/controls";
import { Rows } from "../ui/rows";
import { Empty, Shown } from "../ui/states";
import { Text } from "../ui/text";
import { CallScreen } from "./call";
import "./traffic.css";

export function Traffic({ route }: { route: Route }) {
  const state = useStore(calls);
  const number = route.parts[0];
  return (
    <div class={`screen full traffic ${number ? "has-choice" : ""}`}>
      <div class="traffic-list">
        <header class="screen-head">
          <div>
            <h1>Traffic</h1>
            <p class="lead">
              The last calls of all clients. Secrets are masked; nothing is written to disk.
            </p>
          </div>
        </header>
        <Shown of={state} retry={refreshCalls} lines={10}>
          {(data) => <Body lines={data.lines} chosen={Number(number)} />}
        </Shown>
      </div>
      {number && <CallScreen number={number} key={number} />}
    </div>
  );
}

const OUTCOMES = ["all", "ok", "error", "running", "cancelled"];

function Body({ lines, chosen }: { lines: TrafficLine[]; chosen: number }) {
  const [words, setWords] = useState("");
  const [outcome, setOutcome] = useState("all");
  const [quiet, setQuiet] = useState(false);
  const [group, setGroup] = useState<Group>("none");
  const [paused, setPaused] = useState(false);
  const held = useRef(lines);
  if (!paused) held.current = lines;
  const shown = held.current;
  const found = useMemo(
    () => matching(shown, { words, outcome, quiet }),
    [shown, words, outcome, quiet],
  );
  const rows = useMemo(() => underHeadings(found, group), [found, group]);
  const most = useMemo(() => Math.max(...found.map((line) => line.ms), 1), [found]);
  return (
    <>
      <div class="bar traffic-bar">
        <SearchField
          value={words}
          change={setWords}
          label="Filter by name, method, client"
          hotkey
        />
        <select
          aria-label="Outcome"
          value={outcome}
          onChange={(event) => setOutcome(event.currentTarget.value)}
        >
          {OUTCOMES.map((one) => (
            <option key={one}>{one}</option>
          ))}
        </select>
        <select
          aria-label="Group by"
          value={group}
          onChange={(event) => setGroup(event.currentTarget.value as Group)}
        >
          {GROUPS.map((one) => (
            <option key={one} value={one}>
              {one === "none" ? "no groups" : `by ${one}`}
            </option>
          ))}
        </select>
        <label class="traffic-quiet">
          <input
            type="checkbox"
            checked={quiet}
            onChange={(event) => setQuiet(event.currentTarget.checked)}
          />
          Hide lists and pings
        </label>
        <IconButton
          icon="export"
          label="Export what is shown as JSON"
          act={() => download("traffic.json", JSON.stringify(found, null, 2))}
        />
        <IconButton
          icon={paused ? "play" : "pause"}
          label={paused ? "Go on" : "Pause"}
          pressed={paused}
          act={() => setPaused(!paused)}
        />
        <IconButton
          icon="trash"
          label="Forget these calls"
          act={() => void send("DELETE", "traffic").then(refreshCalls)}
        />
      </div>
      {!found.length && (
        <Empty icon="traffic" title={lines.length ? "No call matches" : "No calls yet"}>
          {lines.length
            ? "Change the filter."
            : "Connect a client, or try a tool: its calls appear here at once."}
        </Empty>
      )}
      <div class="grid traffic-grid">
        {found.length > 0 && <Head />}
        <Rows
          count={rows.length}
          height={32}
          label="Calls"
          render={(index) => <CallRow row={rows[index]!} most={most} chosen={chosen} />}
        />
      </div>
    </>
  );
}

function Head() {
  return (
    <div class="grid-row traffic-head">
      <span />
      <span>Time</span>
      <span>Call</span>
      <span class="grid-text">Method and client</span>
      <span class="time-bar-head" />
      <span class="number">Took</span>
    </div>
  );
}

function CallRow({ row, most, chosen }: { row: LineRow; most: number; chosen: number }) {
  if ("line" in row)
    return <Line line={row.line} most={most} chosen={row.line.number === chosen} />;
  return (
    <h2 class="traffic-group">
      <Text of={row.heading} />
      <span class="count">{thousands(row.calls)}</span>
      {row.failed > 0 && <Badge tone="bad">{thousands(row.failed)} failed</Badge>}
    </h2>
  );
}

function download(name: string, text: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type: "application/json" }));
  link.download = name;
  link.click();
  URL.revokeObjectURL(link.href);
}

function Line({ line, most, chosen }: { line: TrafficLine; most: number; chosen: boolean }) {
  return (
    <a
      class="grid-row"
      href={href("traffic", [String(line.number)])}
      aria-current={chosen}
      onKeyDown={(event) => event.key === "Escape" && go(href("traffic"))}
    >
      <span class={`dot ${line.outcome}`} title={line.outcome} />
      <span class="quiet">{clock(line.at)}</span>
      <span class="grid-name">
        <Text of={line.name || line.method} />
      </span>
      <span class="grid-text quiet">
        <Text
          of={[line.name ? line.method : "", line.client || line.caller, line.process ?? ""]
            .filter(Boolean)
            .join(" · ")}
        />
      </span>
      <span class="time-bar" aria-hidden="true">
        <span style={{ width: `${Math.max(1, (Math.sqrt(line.ms) / Math.sqrt(most)) * 100)}%` }} />
      </span>
      <span class="number">{line.outcome === "running" ? "…" : ms(line.ms)}</span>
    </a>
  );
}
