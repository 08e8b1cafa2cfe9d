/** Everything on offer: a tree or a graph to choose from, the chosen entry beside it. */
import { useEffect, useMemo, useState } from "preact/hooks";
import { thousands } from "../format";
import { catalog, overview, refreshCatalog } from "../live";
import { bare, index, outline, search, type Owner, type Row } from "../model/outline";
import { go, href, type Route } from "../router";
import { useStore } from "../store";
import type { Kind, Listing, ServerRow, ToolRow } from "../types";
import { IconButton, SearchField, Tabs } from "../ui/controls";
import { Icon, type IconName } from "../ui/icon";
import { lazy } from "../ui/lazy";
import { Rows } from "../ui/rows";
import { Empty, Shown } from "../ui/states";
import { Text } from "../ui/text";
import { ToolBadges } from "./badges";
import { EntryScreen } from "./entry";
import { ServerSummary, StateBadge, whyOf } from "./server";
import "./explore.css";

const Graph = lazy(async () => (await import("./graph")).Graph);

type Choice = "all" | "tools" | "resources" | "prompts";

const NOBODY: Owner[] = [];

const KINDS: Record<Choice, readonly Kind[]> = {
  all: ["tools", "resources", "templates", "prompts"],
  tools: ["tools"],
  resources: ["resources", "templates"],
  prompts: ["prompts"],
};

export function Explore({ route }: { route: Route }) {
  const state = useStore(catalog);
  return (
    <Shown of={state} retry={refreshCatalog} lines={12}>
      {(listing) => <Body listing={listing} route={route} />}
    </Shown>
  );
}

function Body({ listing, route }: { listing: Listing; route: Route }) {
  const [kind, id] = route.parts;
  const chosen = kind && id ? { kind: kind as Kind, id } : null;
  const [words, setWords] = useState("");
  const [choice, setChoice] = useState<Choice>(kind && kind in KINDS ? (kind as Choice) : "all");
  useEffect(() => {
    if (kind && !id && kind in KINDS) setChoice(kind as Choice);
  }, [kind, id]);
  const graph = route.query.get("view") === "graph";
  const owner = route.query.get("owner") ?? "";
  const everything = useMemo(() => index(listing), [listing]);
  const found = useMemo(
    () => search(everything, words, KINDS[choice], owner),
    [everything, words, choice, owner],
  );
  const servers = useStore(overview).data?.servers ?? [];
  const owners = useOwners(servers);
  const empty = useMemo(
    () => bare(everything, owners, words, owner),
    [everything, owners, words, owner],
  );
  const [folded, setFolded] = useState<ReadonlySet<string>>(new Set());
  // What the summary of the one server says is not said again below it.
  const told = owner ? NOBODY : owners;
  const rows = useMemo(() => outline(found, folded, told, empty), [found, folded, told, empty]);
  const list = useOutline(
    rows,
    { folded, setFolded },
    chosen ? `${chosen.kind}:${chosen.id}` : "",
    words,
  );
  const drawn = useMemo(
    () => found.filter((one) => one.kind === "tools").map((one) => one.entry as ToolRow),
    [found],
  );
  const server = servers.find((one) => one.name === owner);
  return (
    <div class={`explore ${chosen ? "has-choice" : ""} ${graph && !chosen ? "as-graph" : ""}`}>
      <section class="explore-list" aria-label="Entries">
        <div class="explore-tools">
          <SearchField
            value={words}
            change={setWords}
            label="Search"
            hotkey
            keys={(event) => TYPING.has(event.key) || list.move(event)}
            points={list.at >= 0 ? `row-${list.at}` : undefined}
          />
          <IconButton
            icon="graph"
            label={graph ? "Show as a tree" : "Show as a graph"}
            pressed={graph}
            act={() => go(href("explore", [], graph ? {} : { view: "graph" }))}
          />
        </div>
        <Tabs<Choice>
          label="Kinds"
          chosen={choice}
          choose={setChoice}
          tabs={[
            { id: "all", label: "All", count: everything.length },
            { id: "tools", label: "Tools", count: listing.tools.length },
            {
              id: "resources",
              label: "Resources",
              count: listing.resources.length + listing.templates.length,
            },
            { id: "prompts", label: "Prompts", count: listing.prompts.length },
          ]}
        />
        {owner && (
          <p class="filter">
            Only <Text of={owner} />{" "}
            <a href={href("explore")} class="link">
              show all
            </a>
          </p>
        )}
        {server && <ServerSummary row={server} />}
        {graph && !chosen ? (
          <Graph found={drawn} all={listing.tools} owners={owners} empty={empty} />
        ) : (
          <Outline list={list} words={words} />
        )}
      </section>
      {chosen ? (
        <EntryScreen kind={chosen.kind} id={chosen.id} route={route} key={`${kind}:${id}`} />
      ) : (
        !graph && (
          <div class="explore-none">
            <Empty icon="explore" title="Choose an entry">
              Arrow keys move through the list, Enter opens, / searches.
            </Empty>
          </div>
        )
      )}
    </div>
  );
}

/** Keys that belong to what is typed, where something is. */
const TYPING = new Set(["Home", "End"]);

interface Folds {
  folded: ReadonlySet<string>;
  setFolded: (folded: ReadonlySet<string>) => void;
}

interface List {
  rows: Row[];
  at: number;
  setAt: (at: number) => void;
  folded: ReadonlySet<string>;
  open: (row: Row) => void;
  move: (event: KeyboardEvent) => void;
}

/** The overview comes anew with every call: the rows change only when what they say does. */
function useOwners(servers: ServerRow[]): Owner[] {
  const text = JSON.stringify(
    servers.map((row) => ({
      name: row.name,
      state: row.state,
      description: row.description ?? "",
      why: whyOf(row),
    })),
  );
  return useMemo(() => JSON.parse(text) as Owner[], [text]);
}

const isEntry = (row: Row | undefined) =>
  row !== undefined && row.kind !== "owner" && row.kind !== "note";

/** Among what was found, servers are not what anyone looks for. */
function next(rows: Row[], at: number, step: number, searching: boolean): number {
  let place = at + step;
  while (searching && rows[place] && !isEntry(rows[place])) place += step;
  return rows[place] ? place : Math.max(0, at);
}

/** The rows, the one that the keys are at, and what the keys do. */
function useOutline(rows: Row[], folds: Folds, chosen: string, words: string): List {
  const { folded, setFolded } = folds;
  const [at, setAt] = useState(-1);
  useEffect(() => {
    const current = rows.findIndex((row) => row.key === chosen);
    // While something is searched, the first that was found is the one that Enter opens.
    const first = words ? rows.findIndex(isEntry) : -1;
    setAt(current < 0 ? first : current);
  }, [chosen, rows, words]);
  const toggle = (key: string) => {
    const next = new Set(folded);
    if (!next.delete(key)) next.add(key);
    setFolded(next);
  };
  const open = (row: Row) => {
    if (row.kind === "note" || (row.kind === "owner" && !row.size))
      go(href("explore", [], { owner: row.id }));
    else if (row.kind === "owner") toggle(row.key);
    else go(href("explore", [row.kind, row.id]));
  };
  const move = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const row = rows[at];
    if (step) setAt(next(rows, at, step, words !== ""));
    else if (event.key === "Home") setAt(0);
    else if (event.key === "End") setAt(rows.length - 1);
    else if (event.key === "Enter" && row) open(row);
    else return;
    event.preventDefault();
  };
  return { rows, at, setAt, folded, open, move };
}

function Outline({ list, words }: { list: List; words: string }) {
  const { rows, at, setAt, folded, open, move } = list;
  if (!rows.length)
    return words ? (
      <Empty icon="search" title="Nothing is called that">
        Names, titles and descriptions were searched.
      </Empty>
    ) : (
      <Empty icon="tool" title="Nothing of this kind is served" />
    );
  return (
    <div
      class="outline"
      tabIndex={0}
      onKeyDown={move}
      role="tree"
      aria-label="What is served"
      {...(at >= 0 ? { "aria-activedescendant": `row-${at}` } : {})}
    >
      <Rows
        count={rows.length}
        height={30}
        label="Entries"
        keepInView={at}
        render={(i) => (
          <OutlineRow
            row={rows[i]!}
            id={`row-${i}`}
            current={i === at}
            open={
              rows[i]!.kind === "owner" && rows[i]!.size ? !folded.has(rows[i]!.key) : undefined
            }
            act={() => {
              setAt(i);
              open(rows[i]!);
            }}
          />
        )}
      />
    </div>
  );
}

function titleOf(row: Row): string {
  return row.kind === "note" ? row.label : row.owner?.description || row.id;
}

const ICONS: Record<Row["kind"], IconName> = {
  tools: "tool",
  resources: "resource",
  templates: "template",
  prompts: "prompt",
  owner: "server",
  note: "right",
};

/** A reason warns of a failure; what is idle or switched off is no trouble. */
const NOTES: Record<string, IconName> = {
  failed: "warn",
  "needs login": "lock",
  disabled: "pause",
  idle: "pause",
  starting: "history",
};

const iconOf = (row: Row): IconName =>
  (row.kind === "note" && NOTES[row.owner?.state ?? ""]) || ICONS[row.kind];

function OutlineRow({
  row,
  id,
  current,
  open,
  act,
}: {
  row: Row;
  id: string;
  current: boolean;
  open: boolean | undefined;
  act: () => void;
}) {
  const tool = row.kind === "tools" ? (row.entry as ToolRow) : null;
  return (
    <button
      type="button"
      id={id}
      role="treeitem"
      tabIndex={-1}
      class={`outline-row ${row.kind} level-${Math.min(row.level, 6)}`}
      aria-selected={current}
      aria-level={row.level + 1}
      {...(open === undefined ? {} : { "aria-expanded": open })}
      onClick={act}
      title={row.entry?.description ?? titleOf(row)}
    >
      <Icon name={open === undefined ? iconOf(row) : open ? "down" : "right"} />
      <span class="outline-name">
        <Text of={(row.entry ? row.entry.name || row.id : row.label).slice(0, 200)} />
      </span>
      {row.kind === "owner" && row.owner && row.owner.state !== "ready" && (
        <StateBadge state={row.owner.state} />
      )}
      {tool && <ToolBadges tool={tool} short />}
      {row.size !== undefined && <span class="count">{thousands(row.size)}</span>}
    </button>
  );
}
