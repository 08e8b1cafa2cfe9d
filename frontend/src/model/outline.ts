/** The explorer's rows: servers, their tools, and below each tool the virtual ones made of it. */
import type { EntryRow, Kind, Listing, ToolRow } from "../types.ts";

export interface Row {
  key: string;
  kind: Kind | "owner" | "note";
  label: string;
  level: number;
  id: string;
  entry?: EntryRow;
  size?: number;
  owner?: Owner;
}

/** A server, with its state and why it does not run. */
export interface Owner {
  name: string;
  state: string;
  description: string;
  why: string;
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

/** The servers that nothing can be found of, where the words are in what they say themselves. */
export function bare(
  everything: Found[],
  owners: readonly Owner[],
  words: string,
  owner: string,
): Owner[] {
  const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
  const present = new Set(everything.map((one) => one.entry.owner));
  return owners.filter((one) => {
    const text = `${one.name}\n${one.description}\n${one.why}`.toLowerCase();
    return (
      !present.has(one.name) &&
      (!owner || one.name === owner) &&
      wanted.every((word) => text.includes(word))
    );
  });
}

/**
 * Grouped by owner; a virtual tool stands below its source where both are there.
 * Of `owners`, those that have entries are told about; those in `empty` get a row as well.
 */
export function outline(
  found: Found[],
  folded: ReadonlySet<string>,
  owners: readonly Owner[] = [],
  empty: readonly Owner[] = [],
): Row[] {
  const rows: Row[] = [];
  // Those that have nothing stand first: below thousands of tools nobody would see them. Those
  // that were switched off stand last: nobody has to see them.
  const none = (off: boolean) =>
    empty
      .filter((one) => (one.state === "disabled") === off)
      .map(({ name }): [string, Found[]] => [name, []]);
  const groups = new Map([...none(false), ...grouped(found), ...none(true)]);
  for (const [name, entries] of groups) {
    const key = `owner:${name}`;
    const owner = owners.find((one) => one.name === name);
    const size = entries.length;
    rows.push({
      key,
      kind: "owner",
      label: name,
      level: 0,
      id: name,
      size,
      ...(owner && { owner }),
    });
    if (folded.has(key)) continue;
    if (owner?.why)
      rows.push({ key: `note:${name}`, kind: "note", label: owner.why, level: 1, id: name, owner });
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
