/** Shape a tool: its name and words, its arguments, its result; see what becomes of it; save. */
import { useState } from "preact/hooks";
import { get } from "../../api";
import { edition } from "../../live";
import { jsonIn, results } from "../../model/results";
import { fieldsOf, leftAlone, shapeFrom, type Shape } from "../../model/shape";
import { useRemote, useStore } from "../../store";
import type { Detail, JsonObject, RegistryFile } from "../../types";
import { Empty, Failure, Shown } from "../../ui/states";
import { Text } from "../../ui/text";
import { Choice } from "../../ui/value";
import { ArgumentsForm } from "./arguments";
import { Composition } from "./composition";
import { useDraft } from "./draft";
import { Preview } from "./preview";
import { ResultForm } from "./result";
import { Saving } from "./saving";
import { Words } from "./words";
import "./shape.css";

export function ShapeTool({ detail }: { detail: Detail }) {
  const round = useStore(edition);
  const files = useRemote<{ files: RegistryFile[] }>(
    (signal) => get("registry", signal),
    [],
    round,
  );
  return (
    <Shown of={files} retry={files.reload} lines={8}>
      {({ files: all }) => <Body detail={detail} files={all} />}
    </Shown>
  );
}

/** The entry of the file that makes this tool; null where no file does. */
export function entryOf(detail: Detail): JsonObject | null {
  if (detail.origin.source !== "registry") return null;
  const layer = detail.layers?.[0];
  return layer?.definition.name === detail.name ? layer.definition : null;
}

type Mode = "this tool" | "a new tool from it" | "a composition that begins with it";

const MODES: Mode[] = ["this tool", "a new tool from it", "a composition that begins with it"];

function Body({ detail, files }: { detail: Detail; files: RegistryFile[] }) {
  const entry = entryOf(detail);
  const owner = files.find((file) => file.path === detail.origin.owner);
  const canChange = entry !== null && owner?.editable === true;
  const [mode, setMode] = useState<Mode>(canChange ? "this tool" : "a new tool from it");
  const file = mode === "this tool" ? owner : (files.find((one) => one.editable) ?? files[0]);
  if (!file) return <NoFile />;
  if (!file.editable)
    return (
      <Empty icon="registry" title="The registry cannot be edited here">
        {file.why && <Text of={file.why} />}
      </Empty>
    );
  return (
    <>
      <p class="bar shape-what">
        <span class="quiet">Shape</span>
        <Choice
          label="What to shape"
          ways={canChange ? MODES : MODES.slice(1)}
          way={mode}
          choose={setMode}
        />
      </p>
      {mode === "this tool" && entry ? (
        <Changing key="this" detail={detail} entry={entry} file={file} />
      ) : mode === "a composition that begins with it" ? (
        <Composition
          key="composition"
          detail={detail}
          entry={beginning(detail)}
          file={file}
          isNew
        />
      ) : (
        <Form
          key="new"
          detail={detail}
          entry={{ name: "", source: detail.name }}
          isNew
          source={detail.definition}
          file={file}
        />
      )}
    </>
  );
}

/** A pipeline of one step that is sent what the caller sends. */
function beginning(detail: Detail): JsonObject {
  const step = { id: detail.name, operation: { tool: { name: detail.name } } };
  return {
    name: "",
    inputSchema: detail.definition.inputSchema ?? { type: "object" },
    spec: { pipeline: { steps: [step] } },
  };
}

function NoFile() {
  return (
    <Empty icon="registry" title="No registry file is served">
      Put a file <code>registry.json</code> with <code>{"{}"}</code> in it into the project, and
      start the server again: tools that you shape are kept there.
    </Empty>
  );
}

interface Shaping {
  detail: Detail;
  entry: JsonObject;
  file: RegistryFile;
}

function Changing({ detail, entry, file }: Shaping) {
  if (entry.spec) return <Composition detail={detail} entry={entry} file={file} />;
  const below = detail.layers?.at(-1)?.definition;
  if (typeof entry.source === "string")
    return <OverSource detail={detail} entry={entry} file={file} source={entry.source} />;
  return <Form detail={detail} entry={entry} file={file} source={below ?? detail.definition} />;
}

/** What the source offers is what it looks like itself, not what is at the bottom of its chain. */
function OverSource({ source, ...shaping }: Shaping & { source: string }) {
  const query = new URLSearchParams({ kind: "tools", name: source });
  const below = useRemote<Detail>((signal) => get(`entry?${query}`, signal), [source]);
  const bottom = shaping.detail.layers?.at(-1)?.definition;
  if (below.error && !bottom) return <Failure error={below.error} retry={below.reload} />;
  if (below.loading && !below.data) return null;
  return <Form {...shaping} source={below.data?.definition ?? bottom!} />;
}

function Form({
  detail,
  entry,
  file,
  source,
  isNew = false,
}: Shaping & { source: JsonObject; isNew?: boolean }) {
  const [shape, setShape] = useState<Shape>(() => shapeFrom(entry, source));
  const last = useStore(results).get(detail.name);
  const put = (part: Partial<Shape>) => setShape({ ...shape, ...part });
  const changes = fieldsOf(shape, entry);
  const fields = isNew ? { name: shape.name, source: detail.name, ...changes } : changes;
  const named = shape.name.trim() !== "";
  const edit = named ? { path: file.path, name: isNew ? null : String(entry.name), fields } : null;
  const draft = useDraft(edit, last ? { tool: shape.name, result: last.raw } : null);
  const untouched = leftAlone(entry);
  const value = draft.checked?.sample?.value;
  return (
    <div class="shape">
      <div class="shape-form">
        <Words shape={shape} put={put} source={source} isNew={isNew} />
        <ArgumentsForm
          all={shape.arguments}
          own={untouched.includes("inputSchema")}
          change={(all) => put({ arguments: all })}
        />
        {untouched.some((key) => key !== "inputSchema") && shape.picks === null ? (
          <p class="banner note">
            The result is shaped in the file by{" "}
            {untouched.filter((key) => key !== "inputSchema").join(" and ")}, which stays as it is.
          </p>
        ) : (
          <ResultForm
            detail={detail}
            value={value ?? (last && !named ? jsonIn(last.raw) : undefined)}
            picks={shape.picks ?? []}
            change={(picks) => put({ picks })}
          />
        )}
      </div>
      <div class="shape-side">
        <Saving
          draft={draft}
          file={file}
          name={shape.name}
          nothing={!isNew && !Object.keys(changes).length}
        />
        {edit ? (
          <Preview
            draft={draft}
            before={{
              definition: source,
              called: "The source",
              now: isNew ? null : detail.definition,
              ...(last ? { result: last } : {}),
            }}
            name={shape.name}
            file={file}
          />
        ) : (
          <Empty icon="shape" title="Give it a name">
            What clients would see appears here while you shape it.
          </Empty>
        )}
      </div>
    </div>
  );
}
