/** The call that is about to run, for use elsewhere. */
import { useState } from "preact/hooks";
import { pretty } from "../json";
import { overview } from "../live";
import { command, curl, python, rpc, typescript, type Wanted } from "../model/copies";
import { useStore } from "../store";
import type { JsonObject } from "../types";
import { Snippet } from "../ui/controls";
import { Icon } from "../ui/icon";
import { Choice } from "../ui/value";
import "./copies.css";

type Way = "toolyard" | "curl" | "JSON-RPC" | "Python" | "TypeScript";

const MAKE: Record<Way, (wanted: Wanted) => string> = {
  toolyard: command,
  curl,
  "JSON-RPC": (wanted) => pretty(rpc(wanted)),
  Python: python,
  TypeScript: typescript,
};

export function Copies({ method, params }: { method: string; params: JsonObject }) {
  const [open, setOpen] = useState(false);
  const ways: Way[] =
    method === "tools/call"
      ? ["toolyard", "curl", "JSON-RPC", "Python", "TypeScript"]
      : ["curl", "JSON-RPC"];
  const [way, setWay] = useState<Way>(ways[0]!);
  const place = useStore(overview).data?.place;
  const wanted: Wanted = {
    method,
    params,
    url: place?.gateway?.url ?? `${location.origin}/mcp`,
    needsToken: place?.needs_token ?? false,
    program: place?.program ?? "toolyard",
    project: place?.project ?? null,
    elsewhere: Boolean(place?.gateway),
  };
  return (
    <div class="copies">
      <button type="button" class="button" aria-expanded={open} onClick={() => setOpen(!open)}>
        <Icon name="copy" /> Copy as…
      </button>
      {open && (
        <div class="copies-body">
          <Choice ways={ways} way={way} choose={setWay} />
          <Snippet title={way} code={MAKE[way](wanted)} />
        </div>
      )}
    </div>
  );
}
