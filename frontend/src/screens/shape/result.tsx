/** Which fields of the result callers get, picked in a result that the tool really gave. */
import { useMemo, useState } from "preact/hooks";
import { compact } from "../../json";
import { pickAt, samePath, spotsIn, EACH, jsonPath, type Pick, type Spot } from "../../model/picks";
import { Run } from "../../model/run";
import { initial, resolved } from "../../model/schema";
import { subjectOf } from "../../model/subject";
import { useStore } from "../../store";
import type { Detail, Json, JsonObject } from "../../types";
import { Badge, IconButton } from "../../ui/controls";
import { ObjectFields } from "../../ui/form/fields";
import { Icon } from "../../ui/icon";
import { Text } from "../../ui/text";
import { Asking } from "../asking";

export function ResultForm({
  detail,
  value,
  picks,
  change,
}: {
  detail: Detail;
  /** The JSON of the last real result, as far as there is one. */
  value: Json | undefined;
  picks: Pick[];
  change: (picks: Pick[]) => void;
}) {
  const spots = useMemo(() => (value === undefined ? [] : spotsIn(value)), [value]);
  const unseen = picks.filter((pick) => !pick.path || !contains(spots, pick.path));
  return (
    <fieldset class="shape-part">
      <legend>Result</legend>
      <p class="hint">
        {picks.length
          ? "Callers get these fields and no others."
          : "The result is handed on whole. Tick fields to hand on those alone."}
      </p>
      {spots.length > 0 && (
        <ul class="spots">
          {spots.map((spot) => (
            <SpotRow key={spot.key} spot={spot} picks={picks} change={change} />
          ))}
        </ul>
      )}
      {unseen.length > 0 && (
        <ul class="spots" aria-label="Fields that the last result does not have">
          {unseen.map((pick) => (
            <li key={pick.names.join(".")} class="spot-row">
              <code>
                <Text of={pick.names.join(" › ")} />
              </code>
              <span class="quiet">
                <Text of={pick.path ? jsonPath(pick.path) : "as the file says"} />
              </span>
              <IconButton
                icon="close"
                label={`Leave out ${pick.names.at(-1)}`}
                act={() => change(picks.filter((one) => one !== pick))}
              />
            </li>
          ))}
        </ul>
      )}
      {!spots.length && value !== undefined && (
        <p class="hint">The last result has no fields to pick from.</p>
      )}
      <Sampling detail={detail} fresh={value === undefined} />
    </fieldset>
  );
}

function contains(spots: Spot[], path: string[]): boolean {
  return spots.some((spot) => samePath(spot.path, path) || contains(spot.below, path));
}

function SpotRow({
  spot,
  picks,
  change,
}: {
  spot: Spot;
  picks: Pick[];
  change: (picks: Pick[]) => void;
}) {
  const [open, setOpen] = useState(spot.path.length < 4);
  const pick = picks.find((one) => samePath(one.path, spot.path));
  const name = jsonPath(spot.path);
  const rename = (text: string) =>
    change(
      picks.map((one) =>
        one === pick ? { ...one, names: [...one.names.slice(0, -1), text] } : one,
      ),
    );
  return (
    <li>
      <div class={`spot-row ${pick ? "picked" : ""}`}>
        <label>
          <input
            type="checkbox"
            checked={pick !== undefined}
            aria-label={`Hand on ${name}`}
            onChange={() =>
              change(pick ? picks.filter((one) => one !== pick) : [...picks, pickAt(spot, picks)])
            }
          />
          <code>
            <Text of={spot.key} />
          </code>
        </label>
        {Array.isArray(spot.value) && <Badge>{spot.value.length} elements</Badge>}
        {spot.below.length > 0 ? (
          <button type="button" class="link" aria-expanded={open} onClick={() => setOpen(!open)}>
            {open ? "fold" : `${spot.below.length} fields`}
          </button>
        ) : (
          <span class="quiet spot-value">
            <Text of={shortened(spot.value)} />
          </span>
        )}
        {pick && (
          <input
            type="text"
            class="spot-name"
            value={pick.names.at(-1)!}
            spellcheck={false}
            aria-label={`Name for ${name}`}
            onInput={(event) => rename(event.currentTarget.value)}
          />
        )}
      </div>
      {open && spot.below.length > 0 && (
        <ul class={`spots ${spot.below[0]!.path.at(-2) === EACH ? "each" : ""}`}>
          {spot.below.map((below) => (
            <SpotRow key={below.key} spot={below} picks={picks} change={change} />
          ))}
        </ul>
      )}
    </li>
  );
}

const shortened = (value: Json) => {
  const text = typeof value === "string" ? value : compact(value);
  return text.length > 80 ? `${text.slice(0, 80)}…` : text;
};

/** A real result comes from a real call: the reader's, never ours. */
function Sampling({ detail, fresh }: { detail: Detail; fresh: boolean }) {
  const subject = useMemo(() => subjectOf(detail), [detail]);
  const root = subject.schema;
  const [open, setOpen] = useState(fresh);
  const [values, setValues] = useState(() => (initial(root, root, true) ?? {}) as JsonObject);
  const [run, setRun] = useState<Run | null>(null);
  if (!open)
    return (
      <button type="button" class="button small" onClick={() => setOpen(true)}>
        <Icon name="again" /> Get another result
      </button>
    );
  return (
    <section class="shape-sample" aria-label="Get a real result">
      {fresh && <p class="hint">Run the tool once to see the fields of a real result.</p>}
      <ObjectFields schema={resolved(root, root)} root={root} value={values} change={setValues} />
      <p class="bar">
        <button
          type="button"
          class="button"
          onClick={() => {
            run?.cancel();
            setRun(new Run(subject.method, detail.name, subject.params(values)));
          }}
        >
          <Icon name="play" /> Run for a real result
        </button>
        {run && <SampleState run={run} />}
      </p>
      {run && <Asking run={run} />}
    </section>
  );
}

function SampleState({ run }: { run: Run }) {
  const { outcome, error, result } = useStore(run.state);
  if (outcome === "running") return <span class="working" role="img" aria-label="Running" />;
  const failed = outcome !== "ok";
  const said = error?.message ?? (failed ? firstText(result) : "");
  return (
    <Badge tone={failed ? "bad" : "good"}>
      {failed ? <Text of={said || outcome} /> : "there it is"}
    </Badge>
  );
}

function firstText(result: JsonObject | undefined): string {
  const first = Array.isArray(result?.content) ? (result.content[0] as JsonObject) : undefined;
  return typeof first?.text === "string" ? first.text : "";
}
