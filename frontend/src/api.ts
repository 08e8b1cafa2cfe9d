/** The page's API. The token comes in the link's fragment and never leaves this origin. */
import { compact, parse } from "./json";
import { keptToken } from "./model/kept";
import type { Json } from "./types";

export class ApiError extends Error {
  constructor(
    readonly status: number,
    message: string,
    readonly section = "",
  ) {
    super(message);
  }
}

/** What was asked for before this script was here; each answer is good for one reader. */
function early(path: string): Promise<Response> | undefined {
  const answer = window.asked?.[path];
  delete window.asked?.[path];
  return answer;
}

async function request(path: string, init: RequestInit = {}): Promise<Response> {
  const headers = { Authorization: `Bearer ${keptToken() ?? ""}` };
  let response: Response;
  try {
    response = await (early(path) ?? fetch(`/api/${path}`, { ...init, headers }));
  } catch (error) {
    if (init.signal?.aborted) throw error;
    throw new ApiError(0, "The server does not answer. Is it still running?");
  }
  if (!response.ok) throw await problem(response);
  return response;
}

async function problem(response: Response): Promise<ApiError> {
  try {
    const said = (await response.json()) as { error?: string; section?: string };
    return new ApiError(response.status, said.error ?? response.statusText, said.section);
  } catch {
    return new ApiError(response.status, response.statusText);
  }
}

export async function get<T>(path: string, signal?: AbortSignal): Promise<T> {
  const response = await request(path, signal ? { signal } : {});
  return parse(await response.text()) as T;
}

export async function send<T>(method: string, path: string, body?: Json): Promise<T> {
  const init: RequestInit = body === undefined ? { method } : { method, body: compact(body) };
  const response = await request(path, init);
  return parse(await response.text()) as T;
}

export interface ServerEvent {
  name: string;
  data: Json;
}

/** Server-sent events over fetch: the browser's own client cannot send the token. */
export async function* events(path: string, init: RequestInit = {}): AsyncGenerator<ServerEvent> {
  const response = await request(path, init);
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  let waiting = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    waiting += value;
    const blocks = waiting.split("\n\n");
    waiting = blocks.pop() ?? "";
    for (const block of blocks) {
      const found = /^event: (.*)\ndata: ([\s\S]*)$/.exec(block);
      if (found) yield { name: found[1]!, data: parse(found[2]!) };
    }
  }
}
