/** What any client needs to know of this server, whether we know that client or not. */
import type { Client, Overview } from "../types.ts";
import { quoted } from "./copies.ts";

/** The address that clients use. */
export function serverUrl({ place }: Overview): string {
  return place.gateway?.url ?? `${location.origin}/mcp`;
}

export function anyOther(overview: Overview): Client {
  const { place } = overview;
  const url = serverUrl(overview);
  const paths = [...(place.project ? [place.project] : []), ...place.registries];
  const stdio = {
    where: "stdio",
    code: [place.program, "serve", ...paths].map(quoted).join(" "),
  };
  return {
    id: "other",
    label: "Anything else",
    after: "",
    link: null,
    recipes: [
      { where: "Streamable HTTP", code: url },
      { where: "The transport of 2024", code: url.replace(/\/mcp\/?$/, "/sse") },
      // A copy of somebody else's server cannot be started.
      ...(place.gateway ? [] : [stdio]),
    ],
  };
}
