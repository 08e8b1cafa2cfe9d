/** The registry files: what they say, what is wrong with them, and what a change would do. */
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { type ApiError, get, send } from "../api";
import { catalog, edition } from "../live";
import { asObject } from "../model/schema";
import { useRemote, useStore } from "../store";
import type { Checked, JsonObject, Problem, RegistryFile, SectionName } from "../types";
import { Badge, Tabs } from "../ui/controls";
import { Icon } from "../ui/icon";
import { lazy } from "../ui/lazy";
import { Empty, Loading, Shown } from "../ui/states";
import { Text } from "../ui/text";
import { ValueView } from "../ui/value";
import { Effect } from "./effect";
import "./registry.css";

const Editor = lazy(async () => (await import("../ui/editor/editor")).Editor);

export function Registry() {
  const round = useStore(edition);
  const files = useRemote<{ files: RegistryFile[] }>(
    (signal) => get("registry", signal),
    [],
    round,
  );
  const [path, setPath] = useState("");
  return (
    <div class="screen full registry">
      <Shown of={files} retry={files.reload} lines={10}>
        {({ files: found }) => {
          const file = found.find((one) => one.path === path) ?? found[0];
          if (!file)
            return (
              <Empty icon="registry" title="No registry file is served">
                Put a registry.json into the project, or name one when you start the server.
              </Empty>
            );
          return (
            <>
              <header class="screen-head">
                <div>
                  <h1>Registry</h1>
                  <p class="lead">
                    <code>
                      <Text of={file.path} />
                    </code>{" "}
                    <Badge>{file.format}</Badge>
                  </p>
                </div>
                {found.length > 1 && (
                  <select
                    class="files"
                    aria-label="Registry file"
                    value={file.path}
                    onChange={(event) => setPath(event.currentTarget.value)}
                  >
                    {found.map((one) => (
                      <option key={one.path} value={one.path}>
                        {one.path}
                      </option>
                    ))}
                  </select>
                )}
              </header>
              <File key={file.path} file={file} reload={files.reload} />
            </>
          );
        }}
      </Shown>
    </div>
  );
}

type Part = SectionName | "servers" | "native";

function File({ file, reload }: { file: RegistryFile; reload: () => void }) {
  const [part, setPart] = useState<Part>(file.sections ? "tools" : "servers");
  const tabs: { id: Part; label: string; count?: number }[] = [];
  if (file.sections)
    tabs.push({ id: "tools", label: "Tools" }, { id: "schemas", label: "Schemas" });
  tabs.push({ id: "servers", label: "Servers", count: file.servers.length });
  if (file.native) tabs.push({ id: "native", label: "Converted" });
  return (
    <>
      {file.why && (
        <p class="banner warn">
          <Icon name="warn" /> <Text of={file.why} />
        </p>
      )}
      {file.readOnly && file.editable && (
        <p class="hint">The page is read-only: a change can be checked, not saved.</p>
      )}
      <Tabs<Part> label="Parts of the file" tabs={tabs} chosen={part} choose={setPart} />
      {(part === "tools" || part === "schemas") && file.sections && (
        <Editing file={file} part={part} show={setPart} reload={reload} />
      )}
      {part === "servers" && <Servers file={file} />}
      {part === "native" && file.native && (
        <div class="scroll">
          {file.lost.length > 0 && (
            <ul class="banner warn">
              {file.lost.map((one) => (
                <li key={one}>
                  <Text of={one} />
                </li>
              ))}
            </ul>
          )}
          <ValueView value={file.native} title="The file in the native form, values masked" />
        </div>
      )}
    </>
  );
}

function Servers({ file }: { file: RegistryFile }) {
  return (
    <div class="scroll">
      <p class="hint">
        Servers are changed in the file itself: a page must never say what is to be run. Values of
        variables, headers and arguments are masked.
      </p>
      {file.servers.length ? (
        <ValueView value={file.servers} />
      ) : (
        <Empty icon="server" title="The file names no servers" />
      )}
    </div>
  );
}

type Saving = "idle" | "saving" | "saved";

const PAUSE = 400;

function Editing({
  file,
  part,
  show,
  reload,
}: {
  file: RegistryFile;
  part: SectionName;
  show: (part: Part) => void;
  reload: () => void;
}) {
  const [texts, setTexts] = useState(file.sections!);
  const [base, setBase] = useState(file);
  const [checked, setChecked] = useState<Checked | null>(null);
  const [refused, setRefused] = useState<ApiError | null>(null);
  const [saving, setSaving] = useState<Saving>("idle");
  const [goTo, setGoTo] = useState<{ line: number } | null>(null);
  const changed = texts.tools !== base.sections!.tools || texts.schemas !== base.sections!.schemas;
  const latest = useRef(texts);
  latest.current = texts;
  useEffect(() => {
    // The file was changed by someone else: show that, unless it would lose what is typed.
    if (!changed && file.stamp !== base.stamp) {
      setTexts(file.sections!);
      setBase(file);
    }
  }, [file]);
  useEffect(() => {
    if (!changed) {
      setChecked(null);
      setRefused(null);
      return;
    }
    const waiting = setTimeout(async () => {
      try {
        const sections = changedOnly(texts, base.sections!);
        const told = await send<Checked>("POST", "registry", { path: file.path, sections });
        if (latest.current !== texts) return;
        setChecked(told);
        setRefused(null);
      } catch (error) {
        if (latest.current !== texts) return;
        setChecked(null);
        setRefused(error as ApiError);
      }
    }, PAUSE);
    return () => clearTimeout(waiting);
  }, [texts, changed]);
  const save = async () => {
    setSaving("saving");
    try {
      const sections = changedOnly(texts, base.sections!);
      const body = { path: file.path, sections, stamp: base.stamp };
      const { stamp } = await send<{ stamp: string }>("PUT", "registry", body);
      setBase({ ...base, stamp, sections: texts });
      setSaving("saved");
      reload();
    } catch (error) {
      setRefused(error as ApiError);
      setSaving("idle");
    }
  };
  const problems = changed ? (checked?.problems ?? []) : file.problems;
  const marks = useMemo(() => {
    const placed = problems.filter((one) => one.section === part);
    const all = new Map(placed.map((one) => [one.line, one.message]));
    const line = refused?.section === part && /line (\d+)/.exec(refused.message);
    if (line) all.set(Number(line[1]), refused.message);
    return all;
  }, [problems, part, refused]);
  const { waits, ...offered } = useOffered(part, file);
  const ready = changed && checked !== null && !spoils(checked) && !refused;
  return (
    <div class="editing">
      <div class="editing-text">
        {waits ? (
          <Loading lines={12} />
        ) : (
          <Editor
            label={`${part} of the registry`}
            value={texts[part]}
            change={(text) => {
              setTexts({ ...texts, [part]: text });
              setSaving("idle");
            }}
            marks={marks}
            readOnly={!file.editable}
            goTo={goTo}
            {...offered}
          />
        )}
        <div class="bar">
          <button
            type="button"
            class="button primary"
            disabled={!ready || file.readOnly}
            onClick={save}
          >
            {saving === "saving" ? "Saving…" : "Save"}
          </button>
          <button
            type="button"
            class="button"
            disabled={!changed}
            onClick={() => {
              setTexts(file.sections!);
              setBase(file);
            }}
          >
            Revert
          </button>
          <span class="quiet" role="status">
            {state(changed, checked, refused, saving)}
          </span>
        </div>
      </div>
      <div class="editing-effect">
        {refused && (
          <p class="banner bad" role="alert">
            <Icon name="warn" /> <Text of={refused.message} />
          </p>
        )}
        <Problems
          problems={problems}
          choose={(problem) => {
            if (problem.section) show(problem.section);
            setGoTo({ line: problem.line });
          }}
        />
        <Effect checked={changed ? checked : null} changed={changed} />
      </div>
    </div>
  );
}

/** Only what was changed is written. */
function changedOnly(
  texts: Record<SectionName, string>,
  before: Record<SectionName, string>,
): Partial<Record<SectionName, string>> {
  const changed = Object.entries(texts).filter(
    ([name, text]) => text !== before[name as SectionName],
  );
  return Object.fromEntries(changed);
}

/**
 * What the editor offers: the keys of the registry's own schema, and the names that are known.
 * It waits for both: whoever types before they are there would be offered nothing.
 */
function useOffered(part: SectionName, file: RegistryFile) {
  const keys = useRemote<JsonObject>((signal) => get("schema", signal), []);
  const entries = useStore(catalog);
  const waits = [keys, entries].some((one) => one.data === undefined && one.error === undefined);
  const schema = keys.data;
  const listing = entries.data;
  return useMemo(() => {
    const tools = listing?.tools.map((tool) => tool.name) ?? [];
    const servers = file.servers.map((server) => String(server.name ?? ""));
    const below = asObject(asObject(schema?.properties)[part]);
    return {
      waits,
      schema: schema ? { ...below, $defs: schema.$defs ?? {} } : null,
      names: { source: tools, tool: tools, server: servers },
    };
  }, [waits, schema, listing, part, file]);
}

function state(
  changed: boolean,
  checked: Checked | null,
  refused: ApiError | null,
  saving: Saving,
) {
  if (!changed) return saving === "saved" ? "Saved." : "As in the file.";
  if (refused) return "Cannot be saved.";
  if (!checked) return "Checking…";
  return spoils(checked) ? "Has problems." : "Can be saved.";
}

const spoils = (checked: Checked) => checked.problems.some((one) => !one.standing);

function Problems({ problems, choose }: { problems: Problem[]; choose: (one: Problem) => void }) {
  if (!problems.length) return null;
  return (
    <ul class="problems" aria-label="Problems">
      {problems.map((one, index) => (
        <li key={index}>
          <button type="button" onClick={() => choose(one)} disabled={!one.section}>
            <code>
              <Text
                of={
                  one.section
                    ? `${one.section}, line ${one.line}`
                    : one.file || one.pointer || "file"
                }
              />
            </code>
            <span>
              <Text of={one.message} />
            </span>
          </button>
        </li>
      ))}
    </ul>
  );
}
