/** What every input of a form is given. */
import type { Schema } from "../../model/schema";
import type { Json, JsonObject } from "../../types";

export type Complete = (name: string, text: string, others: JsonObject) => Promise<string[]>;

export interface FieldProps {
  name: string;
  schema: Schema;
  root: Schema;
  value: Json | undefined;
  change: (value: Json | undefined) => void;
  required: boolean;
  depth: number;
  complete?: (text: string) => Promise<string[]>;
  /** What is wrong with the value, said by whoever holds the form. */
  problem?: string;
}

/** `label` where no label element points at the input. */
export type InputProps = FieldProps & { id: string; label?: string };

export const ariaLabel = (label: string | undefined) => (label ? { "aria-label": label } : {});
