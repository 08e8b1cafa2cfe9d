/** Try one entry: fill the form, run, watch, read the result. */
import { useEffect, useMemo, useState } from "preact/hooks";
import { ms } from "../format";
import { compact } from "../json";
import { find, type Kept } from "../model/history";
import { Run, type RunState } from "../model/run";
import { asObject, initial, resolved } from "../model/schema";
import { appOf } from "../model/signs";
import { complete, readApp, subjectOf, type Subject } from "../model/subject";
import { Store, useRemote, useStore } from "../store";
import { isObject, type Detail, type JsonObject } from "../types";
import { Badge } from "../ui/controls";
import { ResultView } from "../ui/content";
import { AppFrame } from "../ui/frame";
import { ObjectFields } from "../ui/form/fields";
import { RawInput } from "../ui/form/raw";
import { Icon } from "../ui/icon";
import { Empty, Shown } from "../ui/states";
import { Text } from "../ui/text";
import { Choice, ValueView } from "../ui/value";
import { Asking } from "./asking";
import { Copies } from "./copies";
import { Recent } from "./recent";
import { Stages } from "./stages";
import "./try.css";

export function TryIt({ detail, rerun }: { detail: Detail; rerun: string | null }) {
  const subject = useMemo(() => subjectOf(detail), [detail]);
  const root = subject.schema;
  const begin = () => (initial(root, root, true) ?? {}) as JsonObject;
  const [values, setValues] = useState<JsonObject>(begin);
  const [way, setWay] = useState<"form" | "json">("form");
  const [run, setRun] = useState<Run | null>(null);
  const [round, setRound] = useState(0);
  const [wrong, setWrong] = useState("");
  const fill = (kept: Kept) => {
    setValues(subject.values(kept.params));
    setWrong("");
    setRound((n) => n + 1);
  };
  useEffect(() => {
    if (!rerun) return;
    void find(Number(rerun)).then((kept) => kept?.name === detail.name && fill(kept));
  }, [rerun]);
  useEffect(() => {
    if (detail.kind === "resources") start(false);
  }, []);
  const start = (remembered = true) => {
    if (wrong) return;
    run?.cancel();
    setRun(new Run(subject.method, detail.name, subject.params(values), remembered));
  };
  return (
    <div class="try">
      {/* No form element: nothing but the button and Ctrl+Enter may run the tool. */}
      <section
        class="try-form"
        aria-label="Arguments"
        onKeyDown={(event) => {
          if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
          event.preventDefault();
          start();
        }}
      >
        <div class="value-head">
          <h2>Arguments</h2>
          <Choice
            ways={["form", "json"]}
            way={way}
            choose={(next) => {
              setWay(next);
              setWrong("");
            }}
          />
        </div>
        <Arguments
          key={round}
          way={way}
          subject={subject}
          values={values}
          change={setValues}
          completes={detail.completes}
          judge={setWrong}
        />
        <div class="try-run">
          <RunButton run={run} start={start} wrong={wrong} again={detail.kind === "resources"} />
          <Copies params={subject.params(values)} method={subject.method} />
        </div>
        {wrong && <p class="hint">Nothing is run or copied while the JSON is wrong.</p>}
      </section>
      <div class="try-outcome">
        {run ? (
          <Outcome run={run} app={appOf(detail.definition)} />
        ) : (
          <Empty icon="play" title="Nothing has run yet">
            The result, its stages and what the call says meanwhile appear here.
          </Empty>
        )}
        <Recent name={detail.name} choose={fill} />
      </div>
    </div>
  );
}

function Arguments({
  way,
  subject,
  values,
  change,
  completes,
  judge,
}: {
  way: "form" | "json";
  subject: Subject;
  values: JsonObject;
  change: (values: JsonObject) => void;
  completes: boolean;
  judge: (wrong: string) => void;
}) {
  const schema = resolved(subject.schema, subject.schema);
  const { ref } = subject;
  if (way === "json")
    return (
      <RawInput
        id="raw"
        label="Arguments as JSON"
        value={values}
        judge={judge}
        change={(value) => {
          if (value !== undefined && !isObject(value)) throw new Error("must be an object");
          change(value ?? {});
        }}
      />
    );
  const none = !isObject(schema.properties) || !Object.keys(schema.properties).length;
  if (none && !isObject(schema.patternProperties) && schema.additionalProperties === false)
    return <p class="hint">It takes no arguments.</p>;
  const form = (
    <ObjectFields
      schema={schema}
      root={subject.schema}
      value={values}
      change={change}
      {...(completes && ref
        ? {
            complete: (name: string, text: string, others: JsonObject) =>
              complete(ref, name, text, others),
          }
        : {})}
    />
  );
  if (!none) return form;
  return (
    <>
      <p class="hint">It names no arguments; others may be sent.</p>
      {form}
    </>
  );
}

const IDLE = new Store<{ outcome: RunState["outcome"] }>({ outcome: "ok" });

function RunButton({
  run,
  start,
  wrong,
  again,
}: {
  run: Run | null;
  start: () => void;
  wrong: string;
  again: boolean;
}) {
  const { outcome } = useStore<{ outcome: RunState["outcome"] }>(run?.state ?? IDLE);
  if (outcome === "running")
    return (
      <button type="button" class="button danger" onClick={() => run?.cancel()}>
        <Icon name="stop" /> Cancel
      </button>
    );
  return (
    <button
      type="button"
      class="button primary"
      title="Ctrl+Enter"
      disabled={wrong !== ""}
      onClick={() => start()}
    >
      <Icon name={again ? "again" : "play"} /> {again ? "Read again" : "Run"}
    </button>
  );
}

function Outcome({ run, app }: { run: Run; app: string | null }) {
  const state = useStore(run.state);
  const { result } = state;
  return (
    <div class="outcome">
      <StatusLine state={state} />
      <Asking run={run} />
      <Meanwhile state={state} />
      {state.error && (
        <div class="banner bad" role="alert">
          <Badge tone="bad">{state.error.code ?? "error"}</Badge>{" "}
          <span>
            <Text of={state.error.message} />
            {state.error.data !== undefined && state.error.data !== null && (
              <ValueView value={state.error.data} />
            )}
          </span>
        </div>
      )}
      {app && result && result.isError !== true && (
        <ToolApp uri={app} input={asObject(run.params.arguments)} result={result} />
      )}
      {result && <ResultView result={result} {...(state.fault ? { fault: state.fault } : {})} />}
      {state.stages && <Stages stages={state.stages} result={result ?? {}} />}
      {result && (
        <details class="whole">
          <summary>The whole result</summary>
          <ValueView value={result} />
        </details>
      )}
    </div>
  );
}

/** What the tool's own page makes of its result. */
function ToolApp({ uri, input, result }: { uri: string; input: JsonObject; result: JsonObject }) {
  const page = useRemote<string>(() => readApp(uri), [uri]);
  return (
    <section aria-label="App">
      <Shown of={page} retry={page.reload}>
        {(html) => <AppFrame html={html} input={input} result={result} />}
      </Shown>
    </section>
  );
}

const WORDS: Record<RunState["outcome"], [string, "good" | "bad" | "warn" | "plain"]> = {
  running: ["running", "plain"],
  ok: ["done", "good"],
  error: ["failed", "bad"],
  cancelled: ["cancelled", "warn"],
};

function StatusLine({ state }: { state: RunState }) {
  const [word, tone] = WORDS[state.outcome];
  const { progress } = state;
  const part = progress?.total ? Math.min(1, progress.progress / progress.total) : undefined;
  return (
    <div class="status-line" role="status">
      <Badge tone={tone}>
        {state.questions ? "asks you" : state.visiting !== undefined ? "waits for you" : word}
      </Badge>
      {state.ms !== undefined && <span class="quiet">{ms(state.ms)}</span>}
      {state.outcome === "running" && !progress && <span class="working" aria-hidden="true" />}
      {progress && (
        <>
          <progress
            max={1}
            {...(part === undefined ? {} : { value: part })}
            aria-label="Progress"
          />
          <span class="quiet">
            {part === undefined ? progress.progress : `${Math.round(part * 100)} %`}{" "}
            <Text of={(progress.message ?? "").slice(0, 200)} />
          </span>
        </>
      )}
    </div>
  );
}

function Meanwhile({ state }: { state: RunState }) {
  if (!state.logs.length && !state.notifications.length) return null;
  return (
    <ol class="logs" aria-label="Log" tabIndex={0}>
      {state.logs.map((line, index) => (
        <li key={index} class={`log ${line.level}`}>
          <span class="level">{line.level}</span>
          {line.logger && (
            <span class="quiet">
              <Text of={line.logger} />
            </span>
          )}
          <span class="said">
            <Text of={typeof line.data === "string" ? line.data : compact(line.data)} />
          </span>
        </li>
      ))}
      {state.notifications.map((said, index) => (
        <li key={`n${index}`} class="log">
          <span class="level">note</span>
          <span class="said">
            <Text of={compact(said)} />
          </span>
        </li>
      ))}
    </ol>
  );
}
