/** Every run made from this browser. */
import { useMemo, useState } from "preact/hooks";
import { dayAndClock, ms, tokens } from "../format";
import { compact } from "../json";
import { all, forget, runsChanged, type Kept } from "../model/history";
import { href } from "../router";
import { useRemote, useStore } from "../store";
import { SearchField } from "../ui/controls";
import { Icon } from "../ui/icon";
import { Rows } from "../ui/rows";
import { Empty, Shown } from "../ui/states";
import { Text } from "../ui/text";
import "./history.css";

export function History() {
  const round = useStore(runsChanged);
  const runs = useRemote(all, [], round);
  return (
    <div class="screen full">
      <header class="screen-head">
        <div>
          <h1>History</h1>
          <p class="lead">
            Runs made from this page, kept in this browser: arguments, not results.
          </p>
        </div>
        {(runs.data?.length ?? 0) > 0 && (
          <button type="button" class="button" onClick={() => void forget()}>
            <Icon name="trash" /> Forget all
          </button>
        )}
      </header>
      <Shown of={runs} retry={runs.reload} lines={8}>
        {(found) => <Body runs={found} />}
      </Shown>
    </div>
  );
}

const KINDS: Record<string, string> = { "tools/call": "tools", "prompts/get": "prompts" };

function Body({ runs }: { runs: Kept[] }) {
  const [words, setWords] = useState("");
  const texts = useMemo(
    () => runs.map((run) => `${run.name} ${run.outcome} ${compact(run.params)}`.toLowerCase()),
    [runs],
  );
  const found = useMemo(() => {
    const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
    return runs.filter((_, index) => wanted.every((word) => texts[index]!.includes(word)));
  }, [runs, texts, words]);
  if (!runs.length)
    return (
      <Empty icon="history" title="No runs yet">
        Run a tool in <a href={href("explore")}>Explore</a>, and it is listed here.
      </Empty>
    );
  return (
    <>
      <SearchField value={words} change={setWords} label="Search names and arguments" hotkey />
      {found.length === 0 && <Empty icon="search" title="No run matches" />}
      <div class="grid history-grid">
        <Rows
          count={found.length}
          height={32}
          label="Runs"
          render={(index) => <Row run={found[index]!} />}
        />
      </div>
    </>
  );
}

function Row({ run }: { run: Kept }) {
  const kind = KINDS[run.method] ?? "resources";
  return (
    <a
      class="grid-row"
      href={href("explore", [kind, run.name], { part: "try", run: String(run.id) })}
    >
      <span class={`dot ${run.outcome}`} title={run.outcome} />
      <span class="quiet">{dayAndClock(run.at)}</span>
      <span class="grid-name">
        <Text of={run.name.slice(0, 200)} />
      </span>
      <code class="grid-text">
        <Text of={compact(run.params.arguments ?? run.params).slice(0, 300)} />
      </code>
      <span class="number">{tokens(run.tokens)}</span>
      <span class="number">{ms(run.ms)}</span>
    </a>
  );
}
