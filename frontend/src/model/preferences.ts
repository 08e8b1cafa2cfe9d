/** What this browser remembers of its reader's wishes. Never leaves it. */
import { Store } from "../store";
import type { JsonObject } from "../types.ts";
import { applyTheme, keepTheme, keptTheme, type Theme } from "./kept";

const ROOTS = "toolyard-roots";

export const theme = new Store<Theme>(keptTheme());
/** The folders that tools are told they may work in; null where that was never said. */
export const roots = new Store<string[] | null>(storedRoots());

function storedRoots(): string[] | null {
  const kept = localStorage.getItem(ROOTS);
  return kept === null ? null : kept.split("\n").filter(Boolean);
}

export function chooseTheme(next: Theme): void {
  keepTheme(next);
  theme.set(next);
  applyTheme(next);
}

export function keepRoots(next: string[] | null): void {
  if (next === null) localStorage.removeItem(ROOTS);
  else localStorage.setItem(ROOTS, next.join("\n"));
  roots.set(next);
}

export const rootsAnswer = (paths: string[]): JsonObject => ({
  roots: paths.map((path) => ({ uri: asUri(path) })),
});

/** A path is a folder of this machine; anything else must be a URI already. */
const asUri = (text: string): string => (text.startsWith("/") ? `file://${encodeURI(text)}` : text);

export const linesOf = (text: string): string[] => text.split(/\s*\n\s*/).filter(Boolean);
