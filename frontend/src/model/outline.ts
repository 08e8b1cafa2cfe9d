/** The explorer's rows: servers, their tools, and below each tool the virtual ones made of it. */
import type { EntryRow, Kind, Listing, ToolRow } from "../types.ts";

export interface Row {
  key: string;
  kind: Kind | "owner" | "heading";
  label: string;
  level: number;
  id: string;
  entry?: EntryRow;
  size?: number;
}

interface Found {
  entry: EntryRow;
  kind: Kind;
  id: string;
  text: string;
}

/** Everything that can be found, with what is searched in lower case. */
export function index(listing: Listing): Found[] {
  const found: Found[] = [];
  const add = (kind: Kind, id: string, entry: EntryRow) =>
    found.push({
      entry,
      kind,
      id,
      text: `${id}\n${entry.title ?? ""}\n${entry.description ?? ""}\n${entry.owner}`.toLowerCase(),
    });
  for (const tool of listing.tools) add("tools", tool.name, tool);
  for (const one of listing.resources) add("resources", one.uri, one);
  for (const one of listing.templates) add("templates", one.uriTemplate, one);
  for (const one of listing.prompts) add("prompts", one.name, one);
  return found;
}

export function search(
  found: Found[],
  words: string,
  kinds: readonly Kind[],
  owner: string,
): Found[] {
  const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
  return found.filter(
    (one) =>
      kinds.includes(one.kind) &&
      (!owner || one.entry.owner === owner) &&
      wanted.every((word) => one.text.includes(word)),
  );
}

/** Grouped by owner; a virtual tool stands below its source where both are there. */
export function outline(found: Found[], folded: ReadonlySet<string>): Row[] {
  const rows: Row[] = [];
  for (const [owner, entries] of grouped(found)) {
    const key = `owner:${owner}`;
    rows.push({ key, kind: "owner", label: owner, level: 0, id: owner, size: entries.length });
    if (folded.has(key)) continue;
    const names = new Set(entries.filter((one) => one.kind === "tools").map((one) => one.id));
    const below = byParent(entries, names);
    const put = (one: Found, level: number, seen: ReadonlySet<string>) => {
      rows.push({
        key: `${one.kind}:${one.id}`,
        kind: one.kind,
        label: one.entry.title ?? one.entry.name,
        level,
        id: one.id,
        entry: one.entry,
      });
      if (seen.has(one.id)) return;
      for (const child of below.get(one.id) ?? [])
        put(child, level + 1, new Set([...seen, one.id]));
    };
    for (const one of entries) if (!parentOf(one, names)) put(one, 1, new Set());
  }
  return rows;
}

function grouped(found: Found[]): Map<string, Found[]> {
  const groups = new Map<string, Found[]>();
  for (const one of found) {
    const group = groups.get(one.entry.owner);
    if (group) group.push(one);
    else groups.set(one.entry.owner, [one]);
  }
  return groups;
}

function parentOf(one: Found, names: ReadonlySet<string>): string | undefined {
  if (one.kind !== "tools") return undefined;
  const { source } = one.entry as ToolRow;
  return source && source !== one.id && names.has(source) ? source : undefined;
}

function byParent(entries: Found[], names: ReadonlySet<string>): Map<string, Found[]> {
  const below = new Map<string, Found[]>();
  for (const one of entries) {
    const parent = parentOf(one, names);
    if (parent) below.set(parent, [...(below.get(parent) ?? []), one]);
  }
  return below;
}
