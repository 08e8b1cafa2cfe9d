/**
 * The host's side of MCP Apps: what a page in its frame is told, and what it is answered.
 *
 * A page is shown the call that it was made for, and nothing more: it can neither call tools nor
 * open links from here, since looking at a result must not act.
 */
import { isObject, type Json, type JsonObject } from "../types.ts";

/** The call that the page is to show, as far as there is one. */
export interface Subject {
  input?: JsonObject;
  result?: JsonObject;
  theme: "light" | "dark";
}

export interface Reply {
  messages: JsonObject[];
  height?: number;
}

const NEWEST = "2026-01-26";
const LEAST = 60;
const MOST = 900;
const REFUSED = "This page only shows apps: it makes no calls and opens no links for them.";

export function reply(message: unknown, subject: Subject): Reply {
  if (!isObject(message) || message.jsonrpc !== "2.0" || typeof message.method !== "string")
    return { messages: [] };
  const { id, method } = message;
  const params = isObject(message.params) ? message.params : {};
  if (method === "ui/notifications/initialized") return { messages: news(subject) };
  if (method === "ui/notifications/size-changed") return { messages: [], ...sizeOf(params) };
  if (id === undefined) return { messages: [] };
  if (method === "ui/initialize") return answer(id, welcome(params, subject));
  if (method === "ping") return answer(id, {});
  return { messages: [{ jsonrpc: "2.0", id, error: { code: -32601, message: REFUSED } }] };
}

const answer = (id: Json, result: JsonObject): Reply => ({
  messages: [{ jsonrpc: "2.0", id, result }],
});

function welcome(params: JsonObject, { theme }: Subject): JsonObject {
  const { protocolVersion } = params;
  return {
    protocolVersion: typeof protocolVersion === "string" ? protocolVersion : NEWEST,
    hostInfo: { name: "toolyard-page", version: "1" },
    hostCapabilities: {},
    hostContext: {
      theme,
      displayMode: "inline",
      availableDisplayModes: ["inline"],
      platform: "web",
    },
  };
}

function news({ input, result }: Subject): JsonObject[] {
  const told: [string, JsonObject][] = [];
  if (input) told.push(["ui/notifications/tool-input", { arguments: input }]);
  if (result) told.push(["ui/notifications/tool-result", result]);
  return told.map(([method, params]) => ({ jsonrpc: "2.0", method, params }));
}

function sizeOf({ height }: JsonObject): { height?: number } {
  if (typeof height !== "number" || !Number.isFinite(height)) return {};
  return { height: Math.min(MOST, Math.max(LEAST, Math.ceil(height))) };
}
