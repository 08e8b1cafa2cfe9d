/** A tool composed of others: its steps, what goes into each, and a run step by step. */
import { useState } from "preact/hooks";
import { catalog } from "../../live";
import {
  compositionFrom,
  specOf,
  type CompositionShape,
  type StepShape,
} from "../../model/composition";
import { initial, asObject, resolved } from "../../model/schema";
import { same } from "../../json";
import { useStore } from "../../store";
import type { Detail, Json, JsonObject, RegistryFile } from "../../types";
import { ObjectFields } from "../../ui/form/fields";
import { Icon } from "../../ui/icon";
import { Empty } from "../../ui/states";
import { plain } from "../../ui/text";
import { useDraft } from "./draft";
import { Preview } from "./preview";
import { Saving } from "./saving";
import { Step } from "./step";
import { Words, type WordShape } from "./words";

export function Composition({
  detail,
  entry,
  file,
  isNew = false,
}: {
  detail: Detail;
  entry: JsonObject;
  file: RegistryFile;
  isNew?: boolean;
}) {
  const [words, setWords] = useState<WordShape>(() => wordsFrom(entry));
  const [shape, setShape] = useState(() => compositionFrom(entry.spec));
  const fields = changes(entry, words, shape);
  const named = words.name.trim() !== "";
  const all = isNew ? { ...entry, ...fields } : fields;
  const edit = named
    ? { path: file.path, name: isNew ? null : String(entry.name), fields: all }
    : null;
  const draft = useDraft(edit, null);
  return (
    <div class="shape">
      <div class="shape-form">
        <Words
          shape={words}
          put={(part) => setWords({ ...words, ...part })}
          source={{}}
          isNew={isNew}
        />
        {shape ? (
          <Steps detail={detail} entry={entry} shape={shape} change={setShape} />
        ) : (
          <Empty icon="shape" title="This pattern is written in the file">
            A pipeline and tools that run at once can be shaped here; what this one says is left as
            it is.
          </Empty>
        )}
      </div>
      <div class="shape-side">
        <Saving
          draft={draft}
          file={file}
          name={words.name}
          nothing={!isNew && !Object.keys(fields).length}
        />
        {edit ? (
          <Preview
            draft={draft}
            before={{
              definition: isNew ? {} : detail.definition,
              called: isNew ? "Nothing yet" : "What clients see now",
              now: isNew ? null : detail.definition,
            }}
            name={words.name}
            file={file}
          />
        ) : (
          <Empty icon="shape" title="Give it a name" />
        )}
      </div>
    </div>
  );
}

const text = (value: Json | undefined) => (typeof value === "string" ? value : "");

const wordsFrom = (entry: JsonObject): WordShape => ({
  name: text(entry.name),
  title: text(entry.title),
  description: text(entry.description),
  hidden: entry.hidden === true,
});

function changes(entry: JsonObject, words: WordShape, shape: CompositionShape | null): JsonObject {
  const next: JsonObject = {
    name: words.name,
    title: words.title || null,
    description: words.description || null,
    hidden: words.hidden || null,
    ...(shape ? { spec: specOf(shape, asObject(entry.spec)) } : {}),
  };
  return Object.fromEntries(
    Object.entries(next).filter(([key, value]) => !same(value, entry[key] ?? null)),
  );
}

function Steps({
  detail,
  entry,
  shape,
  change,
}: {
  detail: Detail;
  entry: JsonObject;
  shape: CompositionShape;
  change: (shape: CompositionShape) => void;
}) {
  const root = asObject(entry.inputSchema ?? detail.definition.inputSchema);
  const [input, setInput] = useState(() => (initial(root, root, true) ?? {}) as JsonObject);
  const [values, setValues] = useState<Record<string, Json>>({});
  const names = useStore(catalog).data?.tools.map((tool) => tool.name) ?? [];
  const { steps } = shape;
  const put = (at: number, next: StepShape | null) =>
    change({
      ...shape,
      steps: steps.flatMap((one, n) => (n === at ? (next ? [next] : []) : [one])),
    });
  const move = (at: number, by: number) => {
    const next = [...steps];
    const [moved] = next.splice(at, 1);
    next.splice(at + by, 0, moved!);
    change({ ...shape, steps: next });
  };
  return (
    <>
      <datalist id="tool-names">
        {names.map((name) => (
          <option key={name} value={plain(name)} />
        ))}
      </datalist>
      <fieldset class="shape-part">
        <legend>What the caller sends, to try the steps with</legend>
        <ObjectFields schema={resolved(root, root)} root={root} value={input} change={setInput} />
      </fieldset>
      <fieldset class="shape-part">
        <legend>{shape.kind === "pipeline" ? "Steps" : "Tools that run at once"}</legend>
        {steps.map((step, at) => (
          <Step
            key={at}
            step={step}
            at={at}
            shape={shape}
            input={input}
            values={values}
            put={(next) => put(at, next)}
            keep={(value) => setValues({ ...values, [step.id]: value })}
            {...(at > 0 ? { up: () => move(at, -1) } : {})}
            {...(at < steps.length - 1 ? { down: () => move(at, 1) } : {})}
          />
        ))}
        <button
          type="button"
          class="button small"
          onClick={() => change({ ...shape, steps: [...steps, blank(steps)] })}
        >
          <Icon name="plus" /> Add {shape.kind === "pipeline" ? "a step" : "a tool"}
        </button>
      </fieldset>
    </>
  );
}

function blank(steps: StepShape[]): StepShape {
  const taken = new Set(steps.map((step) => step.id));
  let number = steps.length + 1;
  while (taken.has(`step ${number}`)) number++;
  return { id: `step ${number}`, tool: "", binding: { kind: "before" }, written: {} };
}
