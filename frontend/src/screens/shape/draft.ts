/** A change to one entry of a registry file, checked by the server while it is made. */
import { useEffect, useState } from "preact/hooks";
import { type ApiError, send } from "../../api";
import { compact } from "../../json";
import type { Checked, JsonObject } from "../../types";

export interface Edit {
  path: string;
  /** Its name in the file; null for a new one. */
  name: string | null;
  fields: JsonObject;
}

export interface Sample {
  tool: string;
  result: JsonObject;
}

export interface Draft {
  checked?: Checked;
  refused?: ApiError;
  /** What is shown belongs to the fields as they are now. */
  current: boolean;
}

const PAUSE = 250;

export function useDraft(edit: Edit | null, sample: Sample | null): Draft {
  const [draft, setDraft] = useState<Draft>({ current: false });
  const key = compact(edit as unknown as JsonObject) + compact(sample as unknown as JsonObject);
  useEffect(() => {
    setDraft((before) => ({ ...before, current: false }));
    if (!edit) return;
    let gone = false;
    const timer = setTimeout(async () => {
      const entry = { name: edit.name, fields: edit.fields };
      const body = { path: edit.path, entry, ...(sample ? { sample } : {}) };
      try {
        const checked = await send<Checked>("POST", "registry", body as unknown as JsonObject);
        if (!gone) setDraft({ checked, current: true });
      } catch (error) {
        if (!gone) setDraft({ refused: error as ApiError, current: true });
      }
    }, PAUSE);
    return () => {
      gone = true;
      clearTimeout(timer);
    };
  }, [key]);
  return draft;
}

/** What speaks against saving: refusals, and mistakes that the file does not have already. */
export function objections({ checked, refused }: Draft, name: string): string[] {
  const reason = checked?.changes.find((one) => one.name === name)?.reason;
  const mistakes = (checked?.problems ?? []).filter((one) => !one.standing);
  const all = [refused?.message, reason, ...mistakes.map((one) => one.message)];
  return [...new Set(all.filter((one) => typeof one === "string"))];
}
