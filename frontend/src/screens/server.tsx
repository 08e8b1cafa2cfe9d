/** One server in a few words: its state, why it is so, and what the registry says about it. */
import { href } from "../router";
import type { ServerRow } from "../types";
import { Badge, Fold } from "../ui/controls";
import { Text } from "../ui/text";

const TONES: Record<string, "good" | "bad" | "warn" | "plain"> = {
  ready: "good",
  failed: "bad",
  starting: "warn",
  "needs login": "warn",
};

const MEANING: Record<string, string> = {
  idle: "starts with the first call",
  disabled: "the registry says so",
  "needs login": "nobody has logged in",
};

/** Why a server does not run; empty for one that does. */
export function whyOf(row: ServerRow): string {
  if (row.state === "ready") return "";
  return row.reason ?? row.lastError ?? MEANING[row.state] ?? "";
}

export function StateBadge({ state }: { state: string }) {
  const title = MEANING[state];
  return (
    <Badge tone={TONES[state] ?? "plain"} {...(title ? { title } : {})}>
      {state}
    </Badge>
  );
}

export function ServerSummary({ row }: { row: ServerRow }) {
  const why = whyOf(row);
  return (
    <section class="server-summary" aria-label="Server">
      <p>
        <StateBadge state={row.state} />{" "}
        {row.state === "needs login" && <a href={href("connect")}>Log in</a>}
      </p>
      {row.description && (
        <p>
          <Text of={row.description} />
        </p>
      )}
      {why && (
        <p class="quiet">
          <Text of={why} />
        </p>
      )}
      {row.state === "failed" && <ErrorOutput of={row} />}
      {row.kind === "upstream" && !["ready", "disabled"].includes(row.state) && (
        <p>
          <a href={href("health")}>
            {row.state === "failed" ? "Its journal, and Retry now" : "Its journal"}
          </a>
        </p>
      )}
    </section>
  );
}

export function ErrorOutput({ of: { stderr } }: { of: ServerRow }) {
  if (!stderr) return null;
  return (
    <Fold title="What it wrote to its error output">
      {() => (
        <pre class="code" tabIndex={0}>
          <Text of={stderr} />
        </pre>
      )}
    </Fold>
  );
}
