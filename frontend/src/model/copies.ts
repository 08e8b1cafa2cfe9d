/** The same call, for use elsewhere. */
import { compact, pretty } from "../json.ts";
import type { JsonObject } from "../types.ts";

export interface Wanted {
  method: string;
  params: JsonObject;
  url: string;
  needsToken: boolean;
  program: string;
  project: string | null;
  /** It is not ours to start: it is called where it runs. */
  elsewhere: boolean;
}

const REVISION = "2026-07-28";
const PREFIX = "io.modelcontextprotocol/";

export function rpc({ method, params }: Wanted): JsonObject {
  return {
    jsonrpc: "2.0",
    id: 1,
    method,
    params: {
      ...params,
      _meta: {
        [`${PREFIX}protocolVersion`]: REVISION,
        [`${PREFIX}clientCapabilities`]: {},
        [`${PREFIX}clientInfo`]: { name: "curl", version: "1" },
      },
    },
  };
}

export function quoted(text: string): string {
  return /^[\w./:@%+=,-]+$/.test(text) ? text : `'${text.replace(/'/g, `'\\''`)}'`;
}

export function curl(wanted: Wanted): string {
  const { method, params, url, needsToken } = wanted;
  const name = params.name ?? params.uri;
  const headers = [
    "Content-Type: application/json",
    "Accept: application/json, text/event-stream",
    `MCP-Protocol-Version: ${REVISION}`,
    `Mcp-Method: ${method}`,
    ...(typeof name === "string" ? [`Mcp-Name: ${headerValue(name)}`] : []),
  ];
  const lines = headers.map((header) => `-H ${quoted(header)}`);
  if (needsToken) lines.push('-H "Authorization: Bearer $TOOLYARD_TOKEN"');
  return [`curl -sN ${quoted(url)}`, ...lines, `-d ${quoted(compact(rpc(wanted)))}`].join(
    " \\\n  ",
  );
}

/** Text that a header cannot carry travels as Base64, marked as such. */
function headerValue(text: string): string {
  if (/^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/.test(text) && !/^=\?base64\?.*\?=$/.test(text))
    return text;
  const bytes = new TextEncoder().encode(text);
  return `=?base64?${btoa(String.fromCharCode(...bytes))}?=`;
}

export function command(wanted: Wanted): string {
  const { params, program, project, elsewhere, url } = wanted;
  const name = String(params.name);
  const how =
    project && !elsewhere ? ["run-tool", name, "--project-root", project] : ["call", url, name];
  return [program, ...how, "--args", compact(params.arguments ?? {})].map(quoted).join(" ");
}

export function python({ url, params, needsToken }: Wanted): string {
  const name = JSON.stringify(params.name);
  const more = needsToken
    ? "from mcp.client.streamable_http import create_mcp_http_client, streamable_http_client\n"
    : "";
  const headers = `{"Authorization": f"Bearer {os.environ['TOOLYARD_TOKEN']}"}`;
  const place = needsToken
    ? `streamable_http_client(URL, http_client=create_mcp_http_client(headers=${headers}))`
    : "URL";
  return `# pip install "mcp>=2"
import asyncio
import json
${needsToken ? "import os\n" : ""}
from mcp import Client
${more}
URL = ${JSON.stringify(url)}
ARGUMENTS = json.loads(${JSON.stringify(compact(params.arguments ?? {}))})


async def main() -> None:
    async with Client(${place}) as client:
        print(await client.call_tool(${name}, ARGUMENTS))


asyncio.run(main())
`;
}

export function typescript({ url, params, needsToken }: Wanted): string {
  const token = needsToken
    ? `, {\n  requestInit: { headers: { Authorization: \`Bearer \${process.env.TOOLYARD_TOKEN}\` } },\n}`
    : "";
  return `import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

const client = new Client({ name: "example", version: "1.0.0" });
await client.connect(new StreamableHTTPClientTransport(new URL(${JSON.stringify(url)})${token}));
const result = await client.callTool({
  name: ${JSON.stringify(params.name)},
  arguments: ${pretty(params.arguments ?? {}).replace(/\n/g, "\n  ")},
});
console.log(result);
`;
}
