/** One call from this page while it runs: its events, its questions, its end. */
import { ApiError, events, send } from "../api";
import { compact } from "../json.ts";
import { Store } from "../store";
import {
  isObject,
  type Fault,
  type Json,
  type JsonObject,
  type Outcome,
  type Question,
  type Stage,
} from "../types.ts";
import { keep } from "./history";
import { roots, rootsAnswer } from "./preferences";
import { keepResult } from "./results";
import { asObject } from "./schema.ts";

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
  questions?: Record<string, Question> | undefined;
  result?: JsonObject;
  stages?: Stage[];
  error?: { code?: number; message: string; data?: Json };
  fault?: Fault | undefined;
  ms?: number;
  /** The page that was opened for it, and that it waits for now. */
  visiting?: string | undefined;
}

const MOST_LOGS = 2000;
const URL_DONE = "notifications/elicitation/complete";

export class Run {
  readonly state = new Store<RunState>({ outcome: "running", logs: [], notifications: [] });
  private readonly abort = new AbortController();
  private readonly began = performance.now();
  /** Answers to what is asked now that need no reader. */
  private known: JsonObject = {};

  constructor(
    readonly method: string,
    readonly name: string,
    readonly params: JsonObject,
    /** Reading a resource because it is looked at is no run that anyone would repeat. */
    private readonly remembered = true,
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
    if (this.remembered) void this.remember();
  }

  private heard(name: string, data: Json): void {
    const said = isObject(data) ? data : {};
    const act = HEARD[name];
    if (name === "questions") this.asked(said as unknown as Record<string, Question>);
    else if (name === "notification" && said.method === URL_DONE)
      this.dealtWith(String(asObject(said.params).elicitationId));
    else if (act) this.patch(act(said, this.state.value));
    const { result, stages } = this.state.value;
    if (name === "result" && this.method === "tools/call" && result)
      keepResult(this.name, result, stages ?? []);
  }

  private fail(message: string): void {
    this.patch({ ...OVER, outcome: "error", error: { message }, ms: this.elapsed() });
  }

  private elapsed(): number {
    return performance.now() - this.began;
  }

  cancel(): void {
    const { id, outcome } = this.state.value;
    if (outcome !== "running") return;
    if (id) send("DELETE", `calls/${id}`).catch(() => this.giveUp());
    else this.giveUp();
  }

  /** Leaving the stream cancels the call, also where nobody is left to say so. */
  private giveUp(): void {
    if (this.state.value.outcome === "running")
      this.patch({ ...OVER, outcome: "cancelled", ms: this.elapsed() });
    this.abort.abort();
  }

  async answer(answers: JsonObject): Promise<void> {
    const visiting = visited(this.state.value.questions, answers);
    await send("POST", `answers/${this.state.value.id}`, { ...this.known, ...answers });
    if (this.state.value.outcome === "running")
      this.patch({ questions: undefined, ...(visiting ? { visiting } : {}) });
  }

  /** Ask the reader what is not known; where everything is, nobody is asked. */
  private asked(questions: Record<string, Question>): void {
    const entries = Object.entries(questions);
    const told = entries.flatMap(([key, question]) => {
      const answer = settled(question);
      return answer ? [[key, answer] as const] : [];
    });
    this.known = Object.fromEntries(told);
    this.ask(entries.filter(([key]) => !(key in this.known)));
  }

  private ask(open: [string, Question][]): void {
    const { length } = Object.keys(this.known);
    if (!open.length && length) void this.answer({}).catch((error) => this.fail(error.message));
    this.patch({ questions: open.length ? Object.fromEntries(open) : undefined });
  }

  /** The page of a question has been dealt with, wherever that was: nobody need say so. */
  private dealtWith(id: string): void {
    this.patch({ visiting: undefined });
    const entries = Object.entries(this.state.value.questions ?? {});
    const rest = entries.filter(([, { params }]) => params?.elicitationId !== id);
    if (rest.length === entries.length) return;
    for (const [key, { params }] of entries)
      if (params?.elicitationId === id) this.known[key] = { action: "accept" };
    this.ask(rest);
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

/** Folders are a setting: whoever has set them is not asked. */
function settled({ method }: Question): JsonObject | null {
  return method === "roots/list" && roots.value ? rootsAnswer(roots.value) : null;
}

/** What no call has any more when it is over. */
const OVER = { questions: undefined, visiting: undefined } as const;

function visited(questions: RunState["questions"], answers: JsonObject): string | undefined {
  for (const [key, { params }] of Object.entries(questions ?? {})) {
    const answer = answers[key];
    if (params?.mode === "url" && isObject(answer) && answer.action === "accept")
      return String(params.url ?? "");
  }
  return undefined;
}

type Hear = (said: JsonObject, before: RunState) => Partial<RunState>;

const HEARD: Record<string, Hear> = {
  started: (said) => ({ id: String(said.id) }),
  progress: (said) => ({ progress: said as unknown as Progress }),
  log: (said, before) => ({
    logs: [...before.logs, said as unknown as LogLine].slice(-MOST_LOGS),
  }),
  notification: (said, before) => ({ notifications: [...before.notifications, said].slice(-200) }),
  result: (said) => ({
    ...OVER,
    outcome: isObject(said.result) && said.result.isError === true ? "error" : "ok",
    result: said.result as JsonObject,
    stages: said.stages as unknown as Stage[],
    fault: (said.fault ?? undefined) as Fault | undefined,
    ms: Number(said.ms),
  }),
  failed: (said) => ({
    ...OVER,
    outcome: "error",
    error: said as unknown as NonNullable<RunState["error"]>,
    ms: Number(said.ms),
  }),
  cancelled: (said) => ({ ...OVER, outcome: "cancelled", ms: Number(said.ms) }),
};
