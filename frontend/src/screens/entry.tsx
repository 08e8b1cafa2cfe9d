/** One entry: what it is, what its source says and what clients see, and a place to try it. */
import { get } from "../api";
import { tokens } from "../format";
import { pretty } from "../json";
import { edition } from "../live";
import { go, href, type Route } from "../router";
import { useRemote, useStore } from "../store";
import type { Detail, Kind, ToolRow } from "../types";
import { Badge, Fold, Tabs } from "../ui/controls";
import { DiffView } from "../ui/diff";
import { Icon } from "../ui/icon";
import { lazy } from "../ui/lazy";
import { Prose } from "../ui/prose";
import { Failure, Loading } from "../ui/states";
import { Text } from "../ui/text";
import { ValueView } from "../ui/value";
import { ToolBadges } from "./badges";
import { SchemaView } from "./schema";
import { TryIt } from "./try";
import "./entry.css";

const ShapeTool = lazy(async () => (await import("./shape/shape")).ShapeTool);

type Part = "try" | "shape" | "definition" | "schemas" | "origin";

export function EntryScreen({ kind, id, route }: { kind: Kind; id: string; route: Route }) {
  const round = useStore(edition);
  const query = new URLSearchParams({ kind, name: id });
  const detail = useRemote<Detail>((signal) => get(`entry?${query}`, signal), [kind, id], round);
  return (
    <section class="entry" aria-label={id}>
      <a class="back" href={href("explore")}>
        <Icon name="back" /> All entries
      </a>
      {detail.error && !detail.data && <Failure error={detail.error} retry={detail.reload} />}
      {!detail.data && !detail.error && <Loading lines={10} />}
      {detail.data && <Body detail={detail.data} route={route} />}
    </section>
  );
}

function Body({ detail, route }: { detail: Detail; route: Route }) {
  const tabs: { id: Part; label: string }[] = [
    {
      id: "try",
      label: detail.kind === "resources" || detail.kind === "templates" ? "Read it" : "Try it",
    },
    { id: "definition", label: "What clients see" },
  ];
  if (detail.kind === "tools") {
    tabs.splice(1, 0, { id: "shape", label: "Shape this tool" });
    tabs.push({ id: "schemas", label: "Schemas" });
  }
  tabs.push({ id: "origin", label: "Where it comes from" });
  const asked = route.query.get("part") as Part | null;
  const part = tabs.some((tab) => tab.id === asked) ? asked! : "try";
  return (
    <>
      <Head detail={detail} />
      <Tabs<Part>
        label="Parts"
        tabs={tabs}
        chosen={part}
        choose={(next) => go(href("explore", [detail.kind, detail.name], { part: next }))}
      />
      <div class="entry-body" role="tabpanel">
        {part === "try" && <TryIt detail={detail} rerun={route.query.get("run")} />}
        {part === "shape" && <ShapeTool detail={detail} key={detail.name} />}
        {part === "definition" && <Definition detail={detail} />}
        {part === "schemas" && <Schemas detail={detail} />}
        {part === "origin" && <OriginView detail={detail} />}
      </div>
    </>
  );
}

function Head({ detail }: { detail: Detail }) {
  const { definition } = detail;
  const row = asRow(detail);
  return (
    <header class="entry-head">
      <h1>
        <Text of={detail.name} />
      </h1>
      {typeof definition.title === "string" && (
        <p class="entry-title">
          <Text of={definition.title} />
        </p>
      )}
      <p class="badges">
        <Badge title="What listing it costs a client">{tokens(detail.tokens)} tokens</Badge>
        {detail.kind === "tools" && <ToolBadges tool={row} />}
        <Hints detail={detail} />
      </p>
      {detail.unavailable && (
        <p class="banner bad">
          <Icon name="warn" /> <Text of={detail.unavailable} />
        </p>
      )}
      {typeof definition.description === "string" && (
        <div class="description">
          <Prose of={definition.description} />
        </div>
      )}
    </header>
  );
}

function asRow(detail: Detail): ToolRow {
  const { version } = detail.extra;
  return {
    name: detail.name,
    owner: detail.owner,
    tokens: detail.tokens,
    origin: detail.origin.source,
    ...(detail.source ? { source: detail.source } : {}),
    ...(typeof version === "string" ? { version } : {}),
    ...(detail.hidden?.length ? { hidden: detail.hidden } : {}),
    ...(detail.requires?.length ? { requires: detail.requires } : {}),
    projected: detail.projected === true,
    pinned: detail.extra.pinned === true,
  };
}

const HINTS: Record<string, [string, string]> = {
  readOnlyHint: ["only reads", "changes something"],
  destructiveHint: ["may destroy", "destroys nothing"],
  idempotentHint: ["idempotent", "not idempotent"],
  openWorldHint: ["reaches outside", "closed world"],
};

function Hints({ detail }: { detail: Detail }) {
  const annotations = detail.definition.annotations;
  if (typeof annotations !== "object" || annotations === null || Array.isArray(annotations))
    return null;
  return (
    <>
      {Object.entries(HINTS).map(([name, [yes, no]]) => {
        const said = annotations[name];
        if (typeof said !== "boolean") return null;
        const tone = name === "destructiveHint" && said ? "warn" : "plain";
        return (
          <Badge key={name} tone={tone} title={name}>
            {said ? yes : no}
          </Badge>
        );
      })}
    </>
  );
}

function Definition({ detail }: { detail: Detail }) {
  const source = detail.layers?.at(-1);
  if (!source) return <ValueView value={detail.definition} title="Definition" />;
  const told = Object.fromEntries(
    Object.keys(source.definition)
      .filter((key) => key in detail.definition || !OWN.has(key))
      .map((key) => [key, source.definition[key]!]),
  );
  return (
    <DiffView
      leftTitle={`What the source says (${source.label})`}
      rightTitle="What clients see"
      left={pretty(ordered(told, detail.definition))}
      right={pretty(ordered(detail.definition, told))}
    />
  );
}

// Fields of a metadata file that are ours and no part of the definition.
const OWN = new Set(["timeoutSecs", "requires", "path", "version", "tags", "stdin", "$comment"]);

/** Members in the same order on both sides, so that only real differences show. */
function ordered(value: Detail["definition"], other: Detail["definition"]): Detail["definition"] {
  const first = Object.keys({ ...other, ...value }).sort(byImportance);
  return Object.fromEntries(first.filter((key) => key in value).map((key) => [key, value[key]!]));
}

const ORDER = ["name", "title", "description", "inputSchema", "outputSchema", "annotations"];

function byImportance(a: string, b: string): number {
  const rank = (key: string) => (ORDER.includes(key) ? ORDER.indexOf(key) : ORDER.length);
  return rank(a) - rank(b) || a.localeCompare(b);
}

function Schemas({ detail }: { detail: Detail }) {
  return (
    <>
      <SchemaView
        title="Input"
        schema={detail.definition.inputSchema}
        hidden={detail.hidden ?? []}
      />
      <SchemaView title="Output" schema={detail.definition.outputSchema} />
    </>
  );
}

function OriginView({ detail }: { detail: Detail }) {
  const parts = Object.entries(detail.parts ?? {});
  return (
    <>
      <dl class="facts">
        <dt>Source</dt>
        <dd>
          <Text of={[detail.origin.source, detail.origin.owner].filter(Boolean).join(" · ")} />
        </dd>
        {detail.origin.place && (
          <>
            <dt>Place</dt>
            <dd>
              <code>
                <Text of={detail.origin.place} />
              </code>
            </dd>
          </>
        )}
        {parts.map(([part, owner]) => (
          <FactRow key={part} name={part} value={owner ?? "made by the gateway"} />
        ))}
      </dl>
      {(detail.virtual?.length ?? 0) > 0 && (
        <p>
          Made from it:{" "}
          {detail.virtual!.map((name) => (
            <a key={name} class="chip" href={href("explore", ["tools", name])}>
              <Text of={name} />
            </a>
          ))}
        </p>
      )}
      {detail.layers?.map((layer, index) => (
        <Fold
          key={index}
          title={<Text of={layer.label} />}
          aside={<Text of={layer.place} />}
          open={index === 0}
        >
          {() => <ValueView value={layer.definition} />}
        </Fold>
      ))}
      {Object.keys(detail.extra).length > 0 && (
        <Fold title="What the file says besides">{() => <ValueView value={detail.extra} />}</Fold>
      )}
    </>
  );
}

function FactRow({ name, value }: { name: string; value: string }) {
  return (
    <>
      <dt>{name}</dt>
      <dd>
        <Text of={value} />
      </dd>
    </>
  );
}
