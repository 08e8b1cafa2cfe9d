/** One call from this page while it runs: its events, its questions, its end. */
import { ApiError, events, send } from "../api";
import { compact } from "../json.ts";
import { Store } from "../store";
import {
  isObject,
  type Json,
  type JsonObject,
  type Outcome,
  type Question,
  type Stage,
} from "../types.ts";
import { keep } from "./history";

export interface LogLine {
  level: string;
  data: Json;
  logger: string | null;
}

export interface Progress {
  progress: number;
  total: number | null;
  message: string | null;
}

export interface RunState {
  outcome: Outcome;
  id?: string;
  progress?: Progress;
  logs: LogLine[];
  notifications: Json[];
  questions?: Record<string, Question>;
  result?: JsonObject;
  stages?: Stage[];
  error?: { code?: number; message: string; data?: Json };
  ms?: number;
}

const MOST_LOGS = 2000;

export class Run {
  readonly state = new Store<RunState>({ outcome: "running", logs: [], notifications: [] });
  private readonly abort = new AbortController();
  private readonly began = performance.now();

  constructor(
    readonly method: string,
    readonly name: string,
    readonly params: JsonObject,
  ) {
    void this.follow();
  }

  private patch(part: Partial<RunState>): void {
    this.state.update((before) => ({ ...before, ...part }));
  }

  private async follow(): Promise<void> {
    const body = compact({ method: this.method, params: this.params });
    try {
      const stream = events("calls", { method: "POST", body, signal: this.abort.signal });
      for await (const event of stream) this.heard(event.name, event.data);
      if (this.state.value.outcome === "running") this.fail("The server ended the call.");
    } catch (error) {
      if (this.state.value.outcome !== "running") return;
      this.fail(error instanceof ApiError ? error.message : "The connection was lost.");
    }
    void this.remember();
  }

  private heard(name: string, data: Json): void {
    const said = isObject(data) ? data : {};
    const act = HEARD[name];
    if (act) this.patch(act(said, this.state.value));
  }

  private fail(message: string): void {
    this.patch({ outcome: "error", error: { message }, ms: performance.now() - this.began });
  }

  cancel(): void {
    const { id } = this.state.value;
    if (id) send("DELETE", `calls/${id}`).catch(() => this.abort.abort());
    else this.abort.abort();
  }

  async answer(answers: JsonObject): Promise<void> {
    await send("POST", `answers/${this.state.value.id}`, answers);
    this.state.update(({ questions: _, ...rest }) => rest);
  }

  private async remember(): Promise<void> {
    const { outcome, ms, stages } = this.state.value;
    await keep({
      at: Date.now(),
      method: this.method,
      name: this.name,
      params: this.params,
      outcome,
      ms: ms ?? 0,
      tokens: stages?.at(-1)?.tokens ?? 0,
    }).catch(() => undefined);
  }
}

type Hear = (said: JsonObject, before: RunState) => Partial<RunState>;

const HEARD: Record<string, Hear> = {
  started: (said) => ({ id: String(said.id) }),
  progress: (said) => ({ progress: said as unknown as Progress }),
  log: (said, before) => ({
    logs: [...before.logs, said as unknown as LogLine].slice(-MOST_LOGS),
  }),
  notification: (said, before) => ({ notifications: [...before.notifications, said].slice(-200) }),
  questions: (said) => ({ questions: said as unknown as Record<string, Question> }),
  result: (said) => ({
    outcome: isObject(said.result) && said.result.isError === true ? "error" : "ok",
    result: said.result as JsonObject,
    stages: said.stages as unknown as Stage[],
    ms: Number(said.ms),
  }),
  failed: (said) => ({
    outcome: "error",
    error: said as unknown as NonNullable<RunState["error"]>,
    ms: Number(said.ms),
  }),
  cancelled: (said) => ({ outcome: "cancelled", ms: Number(said.ms) }),
};
