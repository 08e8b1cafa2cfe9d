/** The last hour by server and tool, the journal of each server, and trying one again now. */
import { useEffect, useState } from "preact/hooks";
import { get, send } from "../api";
import { clock, count, ms } from "../format";
import { overview, refreshOverview } from "../live";
import { useRemote, useStore } from "../store";
import type { ServerRow } from "../types";
import { Fold } from "../ui/controls";
import { Empty, Shown } from "../ui/states";
import { Text } from "../ui/text";
import { Processes } from "./processes";
import { StateBadge } from "./server";
import "./health.css";

interface Point {
  calls: number;
  errors: number;
  p50: number | null;
  p95: number | null;
}

interface LastHour {
  step: number;
  at: number[];
  tools: Record<string, Point[]>;
  servers: Record<string, Point[]>;
}

interface Journal {
  events: { at: number; text: string }[];
  stderr: string;
}

const LOOK_EVERY = 5000;

export function Health() {
  const state = useRemote<LastHour>((signal) => get("history", signal), []);
  const { data } = useStore(overview);
  useEffect(() => {
    const again = setInterval(state.reload, LOOK_EVERY);
    return () => clearInterval(again);
  }, []);
  const upstreams = data?.servers.filter((row) => row.kind === "upstream") ?? [];
  return (
    <div class="screen">
      <header class="screen-head">
        <div>
          <h1>Health</h1>
          <p class="lead">
            The last hour, a minute a bar: calls, those that failed, and durations.
          </p>
        </div>
      </header>
      <Shown of={state} retry={state.reload} lines={6}>
        {(hour) => (
          <>
            <Pictures title="Servers" rows={hour.servers} hour={hour} />
            <Pictures title="Tools" rows={hour.tools} hour={hour} />
          </>
        )}
      </Shown>
      {(data?.processes?.length ?? 0) > 0 && <Processes processes={data!.processes!} />}
      {upstreams.length > 0 && (
        <section aria-label="Journals">
          <h2>What happened to each server</h2>
          {upstreams.map((row) => (
            <ServerJournal key={row.name} row={row} />
          ))}
        </section>
      )}
    </div>
  );
}

function Pictures({
  title,
  rows,
  hour,
}: {
  title: string;
  rows: Record<string, Point[]>;
  hour: LastHour;
}) {
  const names = Object.keys(rows).sort((a, b) => calls(rows[b]!) - calls(rows[a]!));
  return (
    <section aria-label={title}>
      <h2>{title}</h2>
      {names.length === 0 && <Empty icon="traffic" title="No calls in the last hour" />}
      <div class="pictures">
        {names.map((name) => (
          <Picture key={name} name={name} points={rows[name]!} hour={hour} />
        ))}
      </div>
    </section>
  );
}

const WIDTH = 600;
const HEIGHT = 48;
const BARS = 61;

/** Bars for calls, the failed part in red; a line for the duration that one in twenty exceeds. */
function Picture({ name, points, hour }: { name: string; points: Point[]; hour: LastHour }) {
  const failed = points.reduce((sum, point) => sum + point.errors, 0);
  const most = Math.max(1, ...points.map((point) => point.calls));
  const slowest = Math.max(0.001, ...points.map((point) => point.p95 ?? 0));
  const bar = WIDTH / BARS;
  const left = WIDTH - points.length * bar;
  const line = points
    .map((point, index) => ({ point, x: left + (index + 0.5) * bar }))
    .filter(({ point }) => point.p95 !== null)
    .map(({ point, x }) => `${x},${HEIGHT - ((point.p95 ?? 0) / slowest) * (HEIGHT - 4)}`);
  const total = calls(points);
  const said = `${name}: ${total} calls, ${failed} failed, slowest minute ${ms(slowest * 1000)}`;
  return (
    <figure class="picture">
      <figcaption>
        <b>
          <Text of={name} />
        </b>
        <span class="quiet">
          {count(total)} {total === 1 ? "call" : "calls"}
          {failed > 0 && <span class="bad-text"> · {count(failed)} failed</span>} · p95 up to{" "}
          {ms(slowest * 1000)}
        </span>
      </figcaption>
      <svg
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={said}
      >
        {points.map((point, index) => {
          const x = left + index * bar;
          const tall = (point.calls / most) * HEIGHT;
          const bad = (point.errors / most) * HEIGHT;
          return (
            <g key={hour.at[index]}>
              <rect class="picture-calls" x={x} y={HEIGHT - tall} width={bar - 1} height={tall} />
              <rect class="picture-failed" x={x} y={HEIGHT - bad} width={bar - 1} height={bad} />
            </g>
          );
        })}
        <polyline class="picture-line" points={line.join(" ")} />
      </svg>
    </figure>
  );
}

const calls = (points: Point[]): number => points.reduce((sum, point) => sum + point.calls, 0);

function ServerJournal({ row }: { row: ServerRow }) {
  const [busy, setBusy] = useState(false);
  const [round, setRound] = useState(0);
  const retry = async () => {
    setBusy(true);
    await send("POST", `retry/${encodeURIComponent(row.name)}`).catch(() => undefined);
    setBusy(false);
    setRound((n) => n + 1);
    refreshOverview();
  };
  return (
    <article class="journal" aria-label={row.name}>
      <div class="journal-head">
        <b>
          <Text of={row.name} />
        </b>
        <StateBadge state={row.state} />
        {row.reason && (
          <span class="quiet">
            <Text of={row.reason} />
          </span>
        )}
        {(busy || row.state === "failed") && (
          <button type="button" class="button small" disabled={busy} onClick={() => void retry()}>
            {busy ? "One moment…" : "Retry now"}
          </button>
        )}
      </div>
      <Fold title="Journal">{() => <Entries name={row.name} edition={round} />}</Fold>
    </article>
  );
}

function Entries({ name, edition }: { name: string; edition: number }) {
  const path = `journal/${encodeURIComponent(name)}`;
  const state = useRemote<Journal>((signal) => get(path, signal), [name], edition);
  return (
    <Shown of={state} retry={state.reload} lines={3}>
      {(journal) => (
        <>
          {journal.events.length === 0 && <p class="hint">It has not been needed yet.</p>}
          <ol class="entries">
            {[...journal.events].reverse().map((event, index) => (
              <li key={index}>
                <time class="quiet">{clock(event.at)}</time> <Text of={event.text} />
              </li>
            ))}
          </ol>
          {journal.stderr && (
            <pre class="code" tabIndex={0}>
              <Text of={journal.stderr} />
            </pre>
          )}
        </>
      )}
    </Shown>
  );
}
