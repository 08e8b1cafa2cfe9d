/** How everything is doing, at a glance. */
import { count, duration, ms, tokens } from "../format";
import { calls, overview, refreshOverview } from "../live";
import { href } from "../router";
import { useStore } from "../store";
import type { Overview, ServerRow, SharedStore } from "../types";
import { CopyButton, Fold } from "../ui/controls";
import { Icon } from "../ui/icon";
import { Empty, Shown } from "../ui/states";
import { Prose } from "../ui/prose";
import { Text } from "../ui/text";
import { ErrorOutput, StateBadge } from "./server";
import "./overview.css";

export function OverviewScreen() {
  const state = useStore(overview);
  return (
    <div class="screen">
      <Shown of={state} retry={refreshOverview} lines={8}>
        {(data) => <Body data={data} />}
      </Shown>
    </div>
  );
}

function Body({ data }: { data: Overview }) {
  const endpoint = data.place.gateway?.url ?? `${location.origin}/mcp`;
  return (
    <>
      <header class="screen-head">
        <div>
          <h1>
            <Text of={data.server.title ?? data.server.name} />
          </h1>
          {data.server.description && (
            <p class="lead">
              <Text of={data.server.description} />
            </p>
          )}
        </div>
        <div class="endpoint">
          <code>{endpoint}</code>
          <CopyButton text={() => endpoint} />
        </div>
      </header>
      {data.place.gateway && <OtherGateway gateway={data.place.gateway} />}
      {data.store && <Store store={data.store} />}
      <Numbers data={data} />
      <Warnings data={data} />
      <Servers data={data} />
      {data.instructions && (
        <Fold title="Instructions that clients are given" open>
          {() => <Prose of={data.instructions ?? ""} />}
        </Fold>
      )}
      <p class="foot">
        toolyard {data.toolyard} · up for {duration(data.uptime)} · speaks MCP {data.revisions[0]}{" "}
        to {data.revisions.at(-1)}
      </p>
    </>
  );
}

/** Which gateway this is, when it is not the one that serves the page. */
function OtherGateway({ gateway }: { gateway: NonNullable<Overview["place"]["gateway"]> }) {
  return (
    <section class="banner note" aria-label="Gateway">
      <Icon name="connect" />
      <div>
        <p>
          This is another gateway: <b>{gateway.kind}</b> at{" "}
          <code>
            <Text of={gateway.url} />
          </code>
        </p>
        <p class="hint">
          {gateway.why ? (
            <Text of={gateway.why} />
          ) : (
            <Text of={`Registry from ${gateway.registry}`} />
          )}
        </p>
      </div>
    </section>
  );
}

/** With whom everything is shared, through which store, and what is wrong with that. */
function Store({ store }: { store: SharedStore }) {
  const wrong = [...(store.error ? [store.error] : []), ...store.differences];
  const others = store.processes.filter((process) => !process.self);
  return (
    <section class={`banner ${wrong.length ? "warn" : "note"}`} aria-label="Store">
      <Icon name="connect" />
      <div>
        <p>
          Shared through{" "}
          <code>
            <Text of={store.place} />
          </code>{" "}
          with {others.length} other {others.length === 1 ? "process" : "processes"}
          {store.reachable ? "" : ": it cannot be reached"}
        </p>
        {wrong.map((sentence) => (
          <p class="hint" key={sentence}>
            <Text of={sentence} />
          </p>
        ))}
      </div>
    </section>
  );
}

function Numbers({ data }: { data: Overview }) {
  const { counts } = data;
  const others = counts.resources + counts.templates;
  return (
    <dl class="numbers">
      <Figure label="Tools" value={count(counts.tools)} to={href("explore")} />
      <Figure label="Resources" value={count(others)} to={href("explore", ["resources"])} />
      <Figure label="Prompts" value={count(counts.prompts)} to={href("explore", ["prompts"])} />
      <Figure
        label="Listing costs a client"
        value={tokens(data.tokens.tools + data.tokens.others)}
        unit="tokens"
      />
      <Figure label="Calls" value={count(data.calls)} to={href("traffic")}>
        <Spark />
      </Figure>
      <Figure label="Failed" value={count(data.errors)} tone={data.errors ? "bad" : ""} />
    </dl>
  );
}

function Figure({
  label,
  value,
  unit,
  to,
  tone = "",
  children,
}: {
  label: string;
  value: string;
  unit?: string;
  to?: string;
  tone?: string;
  children?: preact.ComponentChildren;
}) {
  return (
    <div class={`number-box ${tone}`}>
      <dt>{to ? <a href={to}>{label}</a> : label}</dt>
      <dd>
        {value} {unit && <small>{unit}</small>}
        {children}
      </dd>
    </div>
  );
}

/** Calls a second over the last minute. */
function Spark() {
  const rate = useStore(calls).data?.rate ?? [];
  const most = Math.max(...rate, 1);
  if (!rate.some((n) => n > 0)) return null;
  const points = rate.map((n, index) => `${index},${20 - (n / most) * 18}`).join(" ");
  return (
    <svg class="spark" viewBox="0 0 60 21" preserveAspectRatio="none" aria-hidden="true">
      <polyline points={points} />
    </svg>
  );
}

function Warnings({ data }: { data: Overview }) {
  const broken = Object.values(data.broken);
  const all = [...broken, ...data.warnings];
  if (!all.length) return null;
  return (
    <section class="banner warn" aria-label="Problems">
      <Icon name="warn" />
      <ul>
        {all.slice(0, 50).map((warning, index) => (
          <li key={index}>
            <Text of={warning.slice(0, 1000)} />
          </li>
        ))}
      </ul>
    </section>
  );
}

function Servers({ data }: { data: Overview }) {
  if (!data.servers.length)
    return (
      <Empty icon="server" title="Nothing is served yet">
        Start the server with a project folder or a registry file.
      </Empty>
    );
  return (
    <section>
      <h2>Where the tools come from</h2>
      <div class="servers">
        <div class="servers-head" aria-hidden="true">
          <span>Source</span>
          <span>State</span>
          <span>Speaks</span>
          <span class="number">Tools</span>
          <span class="number">Tokens</span>
          <span class="number">Calls</span>
          <span class="number">Failed</span>
          <span class="number">Latency p50 / p95</span>
        </div>
        {data.servers.map((row) => (
          <Server key={row.name} row={row} />
        ))}
      </div>
    </section>
  );
}

function Server({ row }: { row: ServerRow }) {
  return (
    <article class="server" aria-label={row.name}>
      <div class="server-name">
        <a href={href("explore", [], { owner: row.name })}>
          <Text of={row.name} />
        </a>
        {row.info && (
          <small title={row.info}>
            <Text of={row.info} />
          </small>
        )}
      </div>
      <div data-label="State" class="server-state">
        <StateBadge state={row.state} />
        {row.state === "needs login" && <a href={href("connect")}>Log in</a>}
      </div>
      <div data-label="Speaks">
        {[row.transport, row.revision].filter(Boolean).join(" · ") || "–"}
      </div>
      <div data-label="Tools" class="number">
        {count(row.tools)}
      </div>
      <div data-label="Tokens" class="number">
        {tokens(row.tokens)}
      </div>
      <div data-label="Calls" class="number">
        {count(row.calls)}
      </div>
      <div data-label="Failed" class={`number ${row.errors ? "bad-text" : ""}`}>
        {count(row.errors)}
      </div>
      <div data-label="Latency" class="number">
        {row.p50 === null ? "–" : `${ms(row.p50)} / ${ms(row.p95)}`}
      </div>
      <ServerTrouble row={row} />
    </article>
  );
}

function ServerTrouble({ row }: { row: ServerRow }) {
  if (!row.reason && !row.stderr && !row.lastError) return null;
  const again = row.retryIn ? `; the next attempt is in ${Math.ceil(row.retryIn)} s` : "";
  return (
    <div class={`server-trouble ${row.state === "failed" ? "failed" : ""}`}>
      {row.reason && (
        <p>
          <Text of={row.reason} />
          {again}
        </p>
      )}
      {!row.reason && row.lastError && (
        <p class="hint">
          Last error: <Text of={row.lastError} />
        </p>
      )}
      <ErrorOutput of={row} />
    </div>
  );
}
