/** Logins at the OAuth servers that the registry names. */
import { useEffect, useState } from "preact/hooks";
import { get, send } from "../api";
import { refreshOverview } from "../live";
import { useRemote } from "../store";
import type { LoginRow } from "../types";
import { Badge } from "../ui/controls";
import { Failure, Loading } from "../ui/states";
import { isWebUrl, Text } from "../ui/text";
import "./logins.css";

const LOOK_EVERY = 1500;

export function Logins() {
  const state = useRemote<{ logins: LoginRow[] }>((signal) => get("logins", signal), []);
  const rows = state.data?.logins ?? [];
  const pending = rows.some((row) => row.pending);
  useEffect(() => {
    if (!pending) return void refreshOverview();
    const again = setInterval(state.reload, LOOK_EVERY);
    return () => clearInterval(again);
  }, [pending]);
  useLookWhenOver(rows);
  if (!state.data)
    return state.error ? (
      <Failure error={state.error} retry={state.reload} />
    ) : (
      <Loading lines={2} />
    );
  if (!rows.length) return <p class="hint">The registry names no server that wants a login.</p>;
  return (
    <ul class="logins">
      {rows.map((row) => (
        <Login key={row.server} row={row} reload={state.reload} />
      ))}
    </ul>
  );
}

const LONGEST_TIMER = 2 ** 31 - 1;

/** A login ends without a word from the server: look again when the next one does. */
function useLookWhenOver(rows: LoginRow[]): void {
  const [, setRound] = useState(0);
  const ends = rows.map((row) => (row.expires ?? 0) * 1000).filter((at) => at > Date.now());
  const next = ends.length ? Math.min(...ends) : 0;
  useEffect(() => {
    if (!next) return;
    const wait = Math.min(next - Date.now() + 50, LONGEST_TIMER);
    const timer = setTimeout(() => setRound((n) => n + 1), wait);
    return () => clearTimeout(timer);
  }, [next]);
}

function Login({ row, reload }: { row: LoginRow; reload: () => void }) {
  const [failed, setFailed] = useState<Error | null>(null);
  const [busy, setBusy] = useState(false);
  const path = `logins/${encodeURIComponent(row.server)}`;
  const act = async (work: () => Promise<void>) => {
    setFailed(null);
    setBusy(true);
    await work().catch(setFailed);
    setBusy(false);
    reload();
  };
  const logIn = () => {
    // Only a click may open a window: it is opened now, and led to the login page when we know it.
    const tab = open("about:blank", "_blank");
    return act(async () => {
      try {
        const { link } = await send<{ link: string }>("POST", path);
        if (tab && isWebUrl(link)) lead(tab, link);
        else tab?.close();
      } catch (error) {
        tab?.close();
        throw error;
      }
    });
  };
  const logOut = () => act(() => send("DELETE", path));
  const state = stateOf(row);
  return (
    <li class="login" aria-label={row.server}>
      <div class="login-head">
        <span>
          <b>
            <Text of={row.server} />
          </b>{" "}
          <code class="quiet">
            <Text of={row.url} />
          </code>
        </span>
        <Badge tone={STATES[state]}>{state}</Badge>
        <button type="button" class="button small" disabled={busy} onClick={() => void logIn()}>
          {busy ? "One moment…" : row.loggedIn ? "Log in again" : "Log in"}
        </button>
        {row.loggedIn && (
          <button type="button" class="button small" disabled={busy} onClick={() => void logOut()}>
            Log out
          </button>
        )}
      </div>
      {row.loggedIn && <p class="hint">{details(row)}</p>}
      {row.pending && isWebUrl(row.link) && (
        <p>
          <a href={row.link} target="_blank" rel="noopener noreferrer">
            Open the login page
          </a>{" "}
          <span class="hint">
            at <Text of={new URL(row.link).host} />; this line changes when you are back.
          </span>
        </p>
      )}
      {(failed ?? row.error) && (
        <p class="banner bad" role="alert">
          <Text of={failed?.message ?? row.error ?? ""} />
        </p>
      )}
    </li>
  );
}

const STATES = {
  "logged in": "good",
  "waiting for you": "accent",
  expired: "warn",
  "not logged in": "warn",
} as const;

function stateOf(row: LoginRow): keyof typeof STATES {
  if (row.pending) return "waiting for you";
  if (!row.loggedIn) return "not logged in";
  return isOver(row) ? "expired" : "logged in";
}

/** A login that renews itself is not over when its token is. */
const isOver = (row: LoginRow): boolean =>
  Boolean(row.expires && !row.renews && row.expires * 1000 < Date.now());

/** The login page must not reach back to this one. */
function lead(tab: Window, link: string): void {
  tab.opener = null;
  tab.location.replace(link);
}

function details(row: LoginRow): string {
  const parts = [row.issuer ? `at ${row.issuer}` : "a token was given"];
  if (row.scopes?.length) parts.push(`for ${row.scopes.join(" ")}`);
  if (row.expires) {
    const until = new Date(row.expires * 1000).toLocaleString();
    parts.push(isOver(row) ? `it ended ${until}: log in again` : `until ${until}`);
  }
  if (row.renews) parts.push("renewed by itself");
  return parts.join(", ");
}
