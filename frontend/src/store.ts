/** Values that several parts of the page look at, and values that are on their way. */
import { useEffect, useRef, useState } from "preact/hooks";

export class Store<T> {
  private listeners = new Set<() => void>();

  constructor(private current: T) {}

  get value(): T {
    return this.current;
  }

  set(value: T): void {
    this.current = value;
    for (const listener of [...this.listeners]) listener();
  }

  update(change: (value: T) => T): void {
    this.set(change(this.current));
  }

  subscribe(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }
}

/** Always what the store holds now: never the value of another store, nor one from before. */
export function useStore<T>(store: Store<T>): T {
  const [, setRound] = useState(0);
  const shown = store.value;
  useEffect(() => {
    const again = () => setRound((n) => n + 1);
    if (store.value !== shown) again();
    return store.subscribe(again);
  }, [store]);
  return shown;
}

/** Something from the server: what is known stays while it is asked for again. */
export interface Remote<T> {
  data?: T;
  error?: Error;
  loading: boolean;
}

export const LOADING = { loading: true } as const;

/** `keys` say what it is about; when `edition` grows, the same thing is asked for again. */
export function useRemote<T>(
  load: (signal: AbortSignal) => Promise<T>,
  keys: readonly unknown[],
  edition = 0,
): Remote<T> & { reload: () => void } {
  const [state, setState] = useState<Remote<T>>(LOADING);
  const [round, setRound] = useState(0);
  const about = useRef("");
  useEffect(() => {
    const abort = new AbortController();
    const subject = JSON.stringify(keys);
    setState((before) => (about.current === subject ? { ...before, loading: true } : LOADING));
    about.current = subject;
    load(abort.signal).then(
      (data) => abort.signal.aborted || setState({ data, loading: false }),
      (error: Error) => abort.signal.aborted || setState({ error, loading: false }),
    );
    return () => abort.abort();
  }, [...keys, round, edition]);
  return { ...state, reload: () => setRound((n) => n + 1) };
}
