/** Whether a text is meant as Markdown, and whether a resource is a page of MCP Apps. */
import { isObject, type JsonObject } from "../types.ts";

const LOOKED_AT = 4_000;

const SIGNS = [
  /^#{1,6} \S/m,
  /^ {0,3}(```|~~~)/m,
  /^ {0,3}[-*+] \S.*\n+ {0,3}[-*+] \S/m,
  /^ {0,3}1[.)] \S.*\n+ {0,3}2[.)] \S/m,
  /^\|? *:?-{3,}:? *\|/m,
  /\*\*[^\s*][^*\n]{0,200}\*\*/,
  /`[^`\n]{1,200}`/,
  /\[[^[\]\n]{1,200}\]\([^()\s]{1,500}\)/,
];

/** Whether somebody meant it as Markdown; plain prose is shown as it was written. */
export function isMarkdown(text: string): boolean {
  const start = text.slice(0, LOOKED_AT);
  return SIGNS.some((sign) => sign.test(start));
}

const APP = /^text\/html\s*;.*\bprofile="?mcp-app\b/i;

/** HTML that a tool's server wants drawn; pages of before MCP Apps say so by their address alone. */
export function isApp(resource: JsonObject): boolean {
  const mime = String(resource.mimeType ?? "");
  const older = String(resource.uri ?? "").startsWith("ui://") && /^text\/html\b/i.test(mime);
  return typeof resource.text === "string" && (APP.test(mime) || older);
}

/** The page that shows what a tool gave, by either name that it may have. */
export function appOf(definition: JsonObject): string | null {
  const meta = isObject(definition._meta) ? definition._meta : {};
  const uri = (isObject(meta.ui) && meta.ui.resourceUri) || meta["ui/resourceUri"];
  return typeof uri === "string" && uri.startsWith("ui://") ? uri : null;
}
