/** Runs before the first frame: sets how the page looks, and asks for what it will show.
 *
 * The frame waits for it, so it is small and imports next to nothing. The page's own script finds
 * the answers in `window.asked`.
 */
import { adoptToken, applyTheme, keptTheme, keptToken } from "./model/kept";

declare global {
  /** The files of each screen that is not part of the page's own script; put in by the build. */
  const FILES: Record<string, string[]>;
  interface Window {
    asked?: Record<string, Promise<Response>>;
  }
}

const READ_FIRST = ["overview", "catalog", "traffic"];

adoptToken();
const token = keptToken();
if (token !== null) open(token);
// What is asked for is on its way while the browser looks this up.
applyTheme(keptTheme());

function open(token: string): void {
  document.documentElement.dataset.open = "";
  window.asked = Object.fromEntries(READ_FIRST.map((path) => [path, ask(path, token)]));
  const section = /^#\/?([\w-]*)/.exec(location.hash)?.[1] ?? "";
  for (const file of FILES[section] ?? []) preload(file);
}

function ask(path: string, token: string): Promise<Response> {
  const answer = fetch(`/api/${path}`, { headers: { Authorization: `Bearer ${token}` } });
  // Whoever takes it hears of its failure; until then nobody does.
  answer.catch(() => undefined);
  return answer;
}

function preload(file: string): void {
  const link = document.createElement("link");
  const isStyle = file.endsWith(".css");
  link.rel = isStyle ? "preload" : "modulepreload";
  if (isStyle) link.as = "style";
  link.crossOrigin = "";
  link.href = file;
  document.head.append(link);
}
