/** What to paste where, so that a client finds this server. */
import { compact, pretty } from "../json.ts";
import type { JsonObject, Overview } from "../types.ts";
import { quoted } from "./copies.ts";

export interface Recipe {
  where: string;
  code: string;
  /** Starts a copy of the server: not possible for somebody else's. */
  stdio?: boolean;
}

export interface Client {
  id: string;
  label: string;
  recipes: Recipe[];
}

interface Reach {
  name: string;
  url: string;
  headers: Record<string, string>;
  command: string;
  args: string[];
}

function reach(overview: Overview): Reach {
  const { place, server } = overview;
  return {
    name: server.name.replace(/[^\w-]+/g, "-") || "toolyard",
    url: place.gateway?.url ?? `${location.origin}/mcp`,
    headers: place.needs_token ? { Authorization: "Bearer YOUR_TOKEN" } : {},
    command: place.program,
    args: ["serve", ...(place.project ? [place.project] : []), ...place.registries],
  };
}

const overHttp = (r: Reach, more: JsonObject = {}): JsonObject => ({
  ...more,
  url: r.url,
  ...(Object.keys(r.headers).length ? { headers: r.headers } : {}),
});

const overStdio = (r: Reach, more: JsonObject = {}): JsonObject => ({
  ...more,
  command: r.command,
  args: r.args,
});

export function clientsFor(overview: Overview): Client[] {
  const all = clients(reach(overview));
  if (!overview.place.gateway) return all;
  const remote = all.map((client) => ({
    ...client,
    recipes: client.recipes.filter((recipe) => !recipe.stdio),
  }));
  return remote.filter((client) => client.recipes.length > 0);
}

function clients(r: Reach): Client[] {
  const servers = (entry: JsonObject, key = "mcpServers") => pretty({ [key]: { [r.name]: entry } });
  const headers = Object.entries(r.headers).map(([k, v]) => ` --header ${quoted(`${k}: ${v}`)}`);
  return [
    {
      id: "claude-code",
      label: "Claude Code",
      recipes: [
        {
          where: "Run this; the server here must be running when it is used",
          code: `claude mcp add --transport http ${quoted(r.name)} ${quoted(r.url)}${headers.join("")}`,
        },
        {
          where: "Or let it start its own copy over stdio",
          code: `claude mcp add ${quoted(r.name)} -- ${[r.command, ...r.args].map(quoted).join(" ")}`,
          stdio: true,
        },
      ],
    },
    {
      id: "claude-desktop",
      label: "Claude Desktop",
      recipes: [
        {
          where: "claude_desktop_config.json (Settings, Developer, Edit Config)",
          code: servers(overStdio(r)),
          stdio: true,
        },
      ],
    },
    {
      id: "cursor",
      label: "Cursor",
      recipes: [
        {
          where: ".cursor/mcp.json in the project, or ~/.cursor/mcp.json",
          code: servers(overHttp(r)),
        },
        { where: "The same over stdio", code: servers(overStdio(r)), stdio: true },
      ],
    },
    {
      id: "vscode",
      label: "VS Code",
      recipes: [
        {
          where: ".vscode/mcp.json in the workspace",
          code: servers(overHttp(r, { type: "http" }), "servers"),
        },
        {
          where: "Or from a terminal",
          code: `code --add-mcp ${quoted(compact({ name: r.name, type: "http", url: r.url }))}`,
        },
      ],
    },
    {
      id: "windsurf",
      label: "Windsurf",
      recipes: [
        {
          where: "~/.codeium/windsurf/mcp_config.json",
          code: servers({
            serverUrl: r.url,
            ...(Object.keys(r.headers).length ? { headers: r.headers } : {}),
          }),
        },
      ],
    },
    {
      id: "cline",
      label: "Cline",
      recipes: [
        {
          where: "cline_mcp_settings.json",
          code: servers(overHttp(r, { type: "streamableHttp" })),
        },
      ],
    },
    {
      id: "zed",
      label: "Zed",
      recipes: [
        { where: "settings.json", code: servers(overStdio(r), "context_servers"), stdio: true },
      ],
    },
    {
      id: "gemini",
      label: "Gemini CLI",
      recipes: [
        {
          where: "~/.gemini/settings.json",
          code: servers({
            httpUrl: r.url,
            ...(Object.keys(r.headers).length ? { headers: r.headers } : {}),
          }),
        },
      ],
    },
    {
      id: "codex",
      label: "Codex",
      recipes: [
        {
          where: "~/.codex/config.toml",
          code: `[mcp_servers.${r.name}]\nurl = ${JSON.stringify(r.url)}\n`,
        },
      ],
    },
    {
      id: "other",
      label: "Anything else",
      recipes: [
        { where: "Streamable HTTP", code: r.url },
        { where: "The transport of 2024", code: r.url.replace(/\/mcp\/?$/, "/sse") },
        { where: "stdio", code: [r.command, ...r.args].map(quoted).join(" "), stdio: true },
      ],
    },
  ];
}
