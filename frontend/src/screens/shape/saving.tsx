/** Saves a change that was checked, and goes to the tool once the server has it. */
import { useEffect, useRef, useState } from "preact/hooks";
import { type ApiError, send } from "../../api";
import { catalog, edition } from "../../live";
import { go, href } from "../../router";
import { useStore } from "../../store";
import type { RegistryFile } from "../../types";
import { Icon } from "../../ui/icon";
import { Text } from "../../ui/text";
import { objections, type Draft } from "./draft";

/** What was saved last: the form of that tool, which opens then, goes on saying so. */
let latest = "";

export function Saving({
  draft,
  file,
  name,
  nothing,
}: {
  draft: Draft;
  file: RegistryFile;
  name: string;
  nothing: boolean;
}) {
  const [saved, setSaved] = useState("");
  const savedAt = useRef("");
  const [failed, setFailed] = useState<ApiError | null>(null);
  const [busy, setBusy] = useState(false);
  useEffect(() => {
    if (draft.current) setFailed(null);
  }, [draft]);
  const listing = useStore(catalog).data;
  useEffect(() => {
    if (!saved || !listing?.tools.some((tool) => tool.name === saved)) return;
    // Whoever has gone elsewhere meanwhile stays there.
    if (location.hash === savedAt.current) go(href("explore", ["tools", saved], { part: "shape" }));
  }, [saved, listing]);
  useEffect(() => {
    if (!nothing && latest !== saved) latest = "";
  }, [nothing, saved]);
  const sections = draft.checked?.sections;
  const ready = draft.current && sections && !objections(draft, name).length && !nothing;
  const save = async () => {
    setBusy(true);
    try {
      await send("PUT", "registry", { path: file.path, sections: sections!, stamp: file.stamp });
      latest = name;
      savedAt.current = location.hash;
      setSaved(name);
      edition.update((n) => n + 1);
    } catch (error) {
      setFailed(error as ApiError);
    }
    setBusy(false);
  };
  return (
    <div class="shape-save">
      <button
        type="button"
        class="button primary"
        disabled={!ready || busy || file.readOnly}
        onClick={() => void save()}
      >
        <Icon name="check" /> {busy ? "Saving…" : "Save"}
      </button>
      <span class="quiet" role="status">
        {file.readOnly
          ? "The page is read-only: a change can be checked, not saved."
          : failed
            ? failed.message
            : name && (saved === name || (nothing && latest === name))
              ? "Saved."
              : nothing
                ? "Nothing is changed."
                : ""}
      </span>
      <code class="quiet shape-path">
        <Text of={file.path} />
      </code>
    </div>
  );
}
