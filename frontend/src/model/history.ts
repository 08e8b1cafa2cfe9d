/** The runs made from this browser, kept in it. Results are not kept: they may be large. */
import { Store } from "../store";
import type { JsonObject, Outcome } from "../types.ts";

export interface Kept {
  id?: number;
  at: number;
  method: string;
  name: string;
  params: JsonObject;
  outcome: Outcome;
  ms: number;
  tokens: number;
}

const MOST_KEPT = 10_000;
export const runsChanged = new Store(0);

let opened: Promise<IDBDatabase> | null = null;

function database(): Promise<IDBDatabase> {
  opened ??= new Promise((resolve, reject) => {
    const request = indexedDB.open("toolyard", 1);
    request.onupgradeneeded = () => {
      const store = request.result.createObjectStore("runs", {
        keyPath: "id",
        autoIncrement: true,
      });
      store.createIndex("name", "name");
    };
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(new Error("The browser keeps no history here."));
  });
  return opened;
}

function done<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error ?? new Error("The browser's storage failed."));
  });
}

async function runs(mode: IDBTransactionMode): Promise<IDBObjectStore> {
  return (await database()).transaction("runs", mode).objectStore("runs");
}

export async function keep(run: Kept): Promise<void> {
  const store = await runs("readwrite");
  const id = (await done(store.add(run))) as number;
  if (id > MOST_KEPT) await done(store.delete(IDBKeyRange.upperBound(id - MOST_KEPT)));
  runsChanged.update((n) => n + 1);
}

/** Newest first. */
export async function all(): Promise<Kept[]> {
  const found = await done((await runs("readonly")).getAll());
  return (found as Kept[]).reverse();
}

/** The last runs of one entry, newest first. */
export async function recent(name: string, most: number): Promise<Kept[]> {
  const index = (await runs("readonly")).index("name");
  const found: Kept[] = [];
  return new Promise((resolve, reject) => {
    const request = index.openCursor(IDBKeyRange.only(name), "prev");
    request.onerror = () => reject(new Error("The browser's storage failed."));
    request.onsuccess = () => {
      const cursor = request.result;
      if (!cursor || found.length >= most) return resolve(found);
      found.push(cursor.value as Kept);
      cursor.continue();
    };
  });
}

export async function find(id: number): Promise<Kept | undefined> {
  return (await done((await runs("readonly")).get(id))) as Kept | undefined;
}

export async function forget(): Promise<void> {
  await done((await runs("readwrite")).clear());
  runsChanged.update((n) => n + 1);
}
