/** What the whole page shares with the server: overview, catalog and calls, kept up to date. */
import { ApiError, events, get } from "./api";
import { LOADING, Store, type Remote } from "./store";
import type { Listing, Overview, TrafficLine } from "./types";

export interface Calls {
  lines: TrafficLine[];
  latest: number;
  /** Calls in each of the last seconds, oldest first. */
  rate: number[];
}

const MOST_LINES = 1000;
const SECONDS = 60;

export const connection = new Store<"connecting" | "open" | "lost" | "refused">("connecting");
export const overview = new Store<Remote<Overview>>(LOADING);
export const catalog = new Store<Remote<Listing>>(LOADING);
export const calls = new Store<Remote<Calls>>(LOADING);
/** Grows when the catalog changes: what depends on it is asked for again. */
export const edition = new Store(0);

let asked = 0;
const newest = new WeakMap<object, number>();

/** Whichever answer comes last, what was asked last is shown. */
async function refresh<T>(store: Store<Remote<T>>, path: string): Promise<void> {
  const number = ++asked;
  const put = (state: Remote<T>) => {
    if ((newest.get(store) ?? 0) > number) return;
    newest.set(store, number);
    store.set(state);
  };
  store.update((before) => ({ ...before, loading: true }));
  try {
    put({ data: await get<T>(path), loading: false });
  } catch (error) {
    const known = store.value.data;
    put({ ...(known ? { data: known } : {}), error: error as Error, loading: false });
  }
}

export const refreshOverview = () => refresh(overview, "overview");
export const refreshCatalog = () => refresh(catalog, "catalog");

export async function refreshCalls(): Promise<void> {
  try {
    const found = await get<{ latest: number; lines: TrafficLine[] }>("traffic");
    calls.set({ data: { ...found, rate: new Array<number>(SECONDS).fill(0) }, loading: false });
  } catch (error) {
    calls.set({ error: error as Error, loading: false });
  }
}

/** Read everything, and follow what changes; done when everything was read once. */
export function start(): Promise<unknown> {
  readAll();
  void follow();
  setInterval(slideRate, 1000);
  return reading;
}

async function follow(): Promise<void> {
  for (let wait = 500; ; wait = Math.min(wait * 2, 8000)) {
    try {
      for await (const { name, data } of events("events")) {
        wait = 500;
        if (name === "hello") connected(data as unknown as { latest: number });
        if (name === "catalog") catalogChanged();
        if (name === "servers") void refreshOverview();
        if (name === "traffic") heard(data as unknown as Heard);
      }
    } catch (error) {
      if (error instanceof ApiError && error.status === 401) {
        connection.set("refused");
        return;
      }
    }
    connection.set("lost");
    await new Promise((resolve) => setTimeout(resolve, wait));
  }
}

/** What changed after it was read and before the changes are followed was never heard of. */
function connected({ latest }: { latest: number }): void {
  const wasLost = connection.value === "lost";
  connection.set("open");
  if (wasLost) {
    edition.update((n) => n + 1);
    readAll();
    return;
  }
  void Promise.all([reading, refreshOverview()]).then(() => {
    if (catalog.value.data?.digest !== overview.value.data?.digest) catalogChanged();
    if ((calls.value.data?.latest ?? 0) < latest) void refreshCalls();
  });
}

let reading: Promise<unknown> = Promise.resolve();

function readAll(): void {
  reading = Promise.all([refreshOverview(), refreshCatalog(), refreshCalls()]);
}

function catalogChanged(): void {
  edition.update((n) => n + 1);
  void refreshCatalog();
  void refreshOverview();
}

interface Heard {
  count: number;
  lines: TrafficLine[];
}

function heard({ count, lines }: Heard): void {
  const known = calls.value.data;
  if (!known) return;
  const rate = [...known.rate];
  rate[rate.length - 1] = (rate.at(-1) ?? 0) + count;
  calls.set({
    loading: false,
    data: { lines: merged(known.lines, lines), latest: known.latest + count, rate },
  });
  overviewSoon();
}

function merged(known: TrafficLine[], fresh: TrafficLine[]): TrafficLine[] {
  const byNumber = new Map(fresh.map((line) => [line.number, line]));
  const kept = known.map((line) => {
    const newer = byNumber.get(line.number);
    if (newer) byNumber.delete(line.number);
    return newer ?? line;
  });
  const added = [...byNumber.values()].sort((a, b) => b.at - a.at);
  return [...added, ...kept].slice(0, MOST_LINES);
}

function slideRate(): void {
  const known = calls.value.data;
  if (!known || !known.rate.some((n) => n > 0)) return;
  calls.set({ loading: false, data: { ...known, rate: [...known.rate.slice(1), 0] } });
}

let waiting = false;

/** The overview's sums follow the calls, at most once in two seconds. */
function overviewSoon(): void {
  if (waiting) return;
  waiting = true;
  setTimeout(() => {
    waiting = false;
    void refreshOverview();
  }, 2000);
}
