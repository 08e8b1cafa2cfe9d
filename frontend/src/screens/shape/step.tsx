/** One step of a composition: its tool, what it is sent, and what it returned when it was tried. */
import { useId, useState } from "preact/hooks";
import { ApiError, get } from "../../api";
import {
  bound,
  pathsIn,
  type Binding,
  type CompositionShape,
  type StepShape,
} from "../../model/composition";
import { jsonIn } from "../../model/results";
import { Run } from "../../model/run";
import { asList, asObject, resolved } from "../../model/schema";
import { useRemote, useStore } from "../../store";
import { isObject, type Detail, type Json, type JsonObject } from "../../types";
import { Badge, IconButton } from "../../ui/controls";
import { RawInput } from "../../ui/form/raw";
import { Icon } from "../../ui/icon";
import { Text } from "../../ui/text";
import { Asking } from "../asking";
import { ValueView } from "../../ui/value";

interface StepProps {
  step: StepShape;
  at: number;
  shape: CompositionShape;
  input: JsonObject;
  values: Record<string, Json>;
  put: (next: StepShape | null) => void;
  keep: (value: Json) => void;
  up?: () => void;
  down?: () => void;
}

export function Step(props: StepProps) {
  const { step, at, shape, put } = props;
  const query = new URLSearchParams({ kind: "tools", name: step.tool ?? "" });
  const tool = useRemote<Detail | null>(
    (signal) => (step.tool ? get(`entry?${query}`, signal) : Promise.resolve(null)),
    [step.tool],
  );
  const pipeline = shape.kind === "pipeline";
  const unseen = tool.error instanceof ApiError && tool.error.status === 404;
  return (
    <section class="shape-step" aria-label={`Step ${at + 1}`}>
      <div class="shape-step-head">
        <b>{at + 1}</b>
        {step.tool === null ? (
          <span class="hint">A pattern that is written in the file: it stays as it is.</span>
        ) : (
          <input
            type="text"
            list="tool-names"
            value={step.tool}
            spellcheck={false}
            aria-label={`Tool of step ${at + 1}`}
            onInput={(event) => put({ ...step, tool: event.currentTarget.value })}
          />
        )}
        {pipeline && (
          <input
            type="text"
            value={step.id}
            spellcheck={false}
            aria-label={`Name of step ${at + 1}`}
            onInput={(event) => put({ ...step, id: event.currentTarget.value })}
          />
        )}
        {props.up && <IconButton icon="up" label={`Move step ${at + 1} up`} act={props.up} />}
        {props.down && (
          <IconButton icon="down" label={`Move step ${at + 1} down`} act={props.down} />
        )}
        <IconButton icon="trash" label={`Remove step ${at + 1}`} act={() => put(null)} />
      </div>
      {unseen && (
        <p class="hint">
          No client sees a tool of this name: it can be a step, and not be run by itself.
        </p>
      )}
      {tool.error && !unseen && (
        <p class="field-wrong">
          <Text of={tool.error.message} />
        </p>
      )}
      {pipeline && <Feeding {...props} {...(tool.data ? { tool: tool.data } : {})} />}
      {step.tool && !unseen && <Trying {...props} />}
    </section>
  );
}

type Way = "before" | "input" | "fields";

const WAYS: Record<Way, string> = {
  before: "the result of the step before",
  input: "what the caller sent",
  fields: "each argument by itself",
};

function Feeding({ step, at, shape, input, values, put, tool }: StepProps & { tool?: Detail }) {
  const id = useId();
  const { binding } = step;
  const way = binding.kind === "before" || binding.kind === "input" ? binding.kind : "fields";
  const choose = (next: Way) => {
    const made: Record<Way, Binding> = {
      before: { kind: "before" },
      input: { kind: "input", path: "$" },
      fields: { kind: "fields", fields: {} },
    };
    put({ ...step, binding: made[next] });
  };
  const earlier = shape.steps.slice(0, at).map((one) => one.id);
  const schema = asObject(tool?.definition.inputSchema);
  const known = resolved(schema, schema);
  const fields = binding.kind === "fields" ? binding.fields : {};
  const names = [...new Set([...Object.keys(asObject(known.properties)), ...Object.keys(fields)])];
  const needed = asList(known.required);
  return (
    <div class="shape-feed">
      <label htmlFor={id}>It is sent</label>
      <select id={id} value={way} onChange={(event) => choose(event.currentTarget.value as Way)}>
        {(Object.keys(WAYS) as Way[]).map((one) => (
          <option key={one} value={one}>
            {one === "before" && at === 0 ? "what the caller sent, whole" : WAYS[one]}
          </option>
        ))}
      </select>
      {binding.kind === "input" && (
        <PathInput
          label={`Path of step ${at + 1}`}
          path={binding.path}
          value={input}
          change={(path) => put({ ...step, binding: { kind: "input", path } })}
        />
      )}
      {way === "fields" &&
        (binding.kind === "fields" ? (
          names.map((name) => (
            <FieldRow
              key={name}
              name={name}
              required={needed.includes(name)}
              binding={fields[name]}
              earlier={earlier}
              input={input}
              values={values}
              change={(next) => {
                const { [name]: _, ...rest } = fields;
                put({
                  ...step,
                  binding: { kind: "fields", fields: next ? { ...fields, [name]: next } : rest },
                });
              }}
            />
          ))
        ) : (
          <p class="hint">As the file says.</p>
        ))}
    </div>
  );
}

interface FieldProps {
  name: string;
  required: boolean;
  binding: Binding | undefined;
  earlier: string[];
  input: JsonObject;
  values: Record<string, Json>;
  change: (binding: Binding | undefined) => void;
}

function FieldRow({ name, required, binding, earlier, input, values, change }: FieldProps) {
  const id = useId();
  const chosen = !binding ? "" : binding.kind === "step" ? `step:${binding.step}` : binding.kind;
  const choose = (next: string) => {
    if (!next) change(undefined);
    else if (next === "input") change({ kind: "input", path: `$.${name}` });
    else if (next === "constant") change({ kind: "constant", value: "" });
    else change({ kind: "step", step: next.slice(5), path: "$" });
  };
  return (
    <div class="shape-field">
      <label htmlFor={id}>
        <code>
          <Text of={name} />
        </code>{" "}
        {required && <span class="needed">required</span>}
      </label>
      <select id={id} value={chosen} onChange={(event) => choose(event.currentTarget.value)}>
        <option value="">not sent</option>
        <option value="input">from the caller</option>
        {earlier.map((step) => (
          <option key={step} value={`step:${step}`}>
            from the result of {step}
          </option>
        ))}
        <option value="constant">always the same</option>
        {(binding?.kind === "fields" || binding?.kind === "before") && (
          <option value={binding.kind}>as the file says</option>
        )}
      </select>
      {(binding?.kind === "input" || binding?.kind === "step") && (
        <PathInput
          label={`Path for ${name}`}
          path={binding.path}
          value={binding.kind === "input" ? input : values[binding.step]}
          change={(path) => change({ ...binding, path })}
        />
      )}
      {binding?.kind === "constant" && (
        <RawInput
          id={`${id}-c`}
          label={`Value of ${name}`}
          value={binding.value}
          change={(value) => change({ kind: "constant", value: value ?? null })}
        />
      )}
    </div>
  );
}

function PathInput({
  label,
  path,
  value,
  change,
}: {
  label: string;
  path: string;
  value: Json | undefined;
  change: (path: string) => void;
}) {
  const id = useId();
  return (
    <>
      <input
        type="text"
        list={id}
        value={path}
        spellcheck={false}
        autocomplete="off"
        aria-label={label}
        onInput={(event) => change(event.currentTarget.value)}
      />
      <datalist id={id}>
        {pathsIn(value).map((one) => (
          <option key={one} value={one} />
        ))}
      </datalist>
    </>
  );
}

/** Runs this step alone, with what the steps before have returned. */
function Trying({ step, at, shape, input, values, keep }: StepProps) {
  const [run, setRun] = useState<Run | null>(null);
  const [wrong, setWrong] = useState("");
  const before = at === 0 || shape.kind !== "pipeline" ? input : values[shape.steps[at - 1]!.id];
  const start = () => {
    run?.cancel();
    try {
      const sent = bound(step.binding, { input, values, before });
      if (!isObject(sent)) throw new Error("what it is sent is no object: choose its arguments");
      setWrong("");
      const params = { name: step.tool!, arguments: sent };
      const next = new Run("tools/call", step.tool!, params, false);
      next.state.subscribe(() => {
        const { result, outcome } = next.state.value;
        if (outcome === "ok" && result) keep(jsonIn(result));
      });
      setRun(next);
    } catch (error) {
      setWrong((error as Error).message);
    }
  };
  return (
    <div class="shape-try">
      <button type="button" class="button small" onClick={start}>
        <Icon name="play" /> Run this step
      </button>
      {wrong && <span class="field-wrong">{wrong}</span>}
      {run && <Outcome run={run} />}
    </div>
  );
}

function Outcome({ run }: { run: Run }) {
  const { outcome, result, error } = useStore(run.state);
  if (outcome === "running")
    return (
      <>
        <span class="working" role="img" aria-label="Running" />
        <Asking run={run} />
      </>
    );
  return (
    <>
      <Badge tone={outcome === "ok" ? "good" : "bad"}>
        {outcome === "ok" ? "done" : outcome === "cancelled" ? "cancelled" : "failed"}
      </Badge>
      {error && (
        <p class="field-wrong">
          <Text of={error.message} />
        </p>
      )}
      {result && <ValueView value={jsonIn(result)} title="It returned" />}
    </>
  );
}
