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

function Login({ row, reload }: { row: LoginRow; reload: () => void }) {
  const [link, setLink] = useState("");
  const [failed, setFailed] = useState<Error | null>(null);
  const [busy, setBusy] = useState(false);
  const act = async (method: "POST" | "DELETE") => {
    setFailed(null);
    setBusy(true);
    try {
      const path = `logins/${encodeURIComponent(row.server)}`;
      const told = await send<{ link?: string }>(method, path);
      setLink(told.link ?? "");
    } catch (error) {
      setFailed(error as Error);
    }
    setBusy(false);
    reload();
  };
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
        <Badge tone={row.loggedIn ? "good" : row.pending ? "accent" : "warn"}>
          {row.loggedIn ? "logged in" : row.pending ? "waiting for you" : "not logged in"}
        </Badge>
        <button type="button" class="button small" disabled={busy} onClick={() => void act("POST")}>
          {row.loggedIn ? "Log in anew" : "Log in"}
        </button>
        {row.loggedIn && (
          <button
            type="button"
            class="button small"
            disabled={busy}
            onClick={() => void act("DELETE")}
          >
            Log out
          </button>
        )}
      </div>
      {row.loggedIn && <p class="hint">{details(row)}</p>}
      {row.pending && isWebUrl(link) && (
        <p>
          <a href={link} target="_blank" rel="noopener noreferrer">
            Open the login page
          </a>{" "}
          <span class="hint">
            at <Text of={new URL(link).host} />; this line changes when you are back.
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

function details(row: LoginRow): string {
  const parts = [row.issuer ? `at ${row.issuer}` : "a token was given"];
  if (row.scopes?.length) parts.push(`for ${row.scopes.join(" ")}`);
  if (row.expires) parts.push(`until ${new Date(row.expires * 1000).toLocaleString()}`);
  if (row.renews) parts.push("renewed by itself");
  return parts.join(", ");
}
