/** A tool composed of others, as a form: its steps, and what goes from where into which argument. */
import { same } from "../json.ts";
import { isObject, type Json, type JsonObject } from "../types.ts";
import { EACH, jsonPath } from "./picks.ts";
import { asList, asObject } from "./schema.ts";

export type Binding =
  | { kind: "input"; path: string }
  | { kind: "step"; step: string; path: string }
  | { kind: "constant"; value: Json }
  | { kind: "fields"; fields: Record<string, Binding> }
  /** Of the step before, or the call's arguments for the first one: what no binding means. */
  | { kind: "before" };

export interface StepShape {
  id: string;
  /** Null: a pattern that this form cannot express, kept as it is written. */
  tool: string | null;
  binding: Binding;
  written: JsonObject;
}

export interface CompositionShape {
  kind: "pipeline" | "scatterGather";
  steps: StepShape[];
}

/** Null where the spec is neither a pipeline nor several tools at once. */
export function compositionFrom(spec: Json | undefined): CompositionShape | null {
  const { pipeline, scatterGather } = asObject(spec);
  if (isObject(pipeline))
    return { kind: "pipeline", steps: asList(pipeline.steps).filter(isObject).map(stepFrom) };
  if (isObject(scatterGather))
    return {
      kind: "scatterGather",
      steps: asList(scatterGather.targets).filter(isObject).map(targetFrom),
    };
  return null;
}

function stepFrom(step: JsonObject, number: number): StepShape {
  const id = typeof step.id === "string" ? step.id : `step ${number + 1}`;
  return {
    id,
    tool: toolOf(asObject(step.operation)),
    binding: bindingFrom(step.input),
    written: step,
  };
}

const targetFrom = (target: JsonObject): StepShape => ({
  id: toolOf(target) ?? "",
  tool: toolOf(target),
  binding: { kind: "before" },
  written: target,
});

function toolOf(operation: JsonObject): string | null {
  const { tool } = operation;
  const name = isObject(tool) ? tool.name : tool;
  return typeof name === "string" ? name : null;
}

function bindingFrom(said: Json | undefined): Binding {
  const { input, step, constant, construct } = asObject(said);
  if (isObject(input)) return { kind: "input", path: String(input.path ?? "$") };
  if (isObject(step))
    return {
      kind: "step",
      step: String(step.stepId ?? step.step_id ?? ""),
      path: String(step.path ?? "$"),
    };
  if (constant !== undefined) return { kind: "constant", value: constant };
  if (isObject(construct)) {
    const fields = Object.entries(asObject(construct.fields));
    return {
      kind: "fields",
      fields: Object.fromEntries(fields.map(([name, part]) => [name, bindingFrom(part)])),
    };
  }
  return { kind: "before" };
}

function bindingWritten(binding: Binding): Json {
  if (binding.kind === "input") return { input: { path: binding.path } };
  if (binding.kind === "step") return { step: { stepId: binding.step, path: binding.path } };
  if (binding.kind === "constant") return { constant: binding.value };
  if (binding.kind === "before") return null;
  const fields = Object.entries(binding.fields).map(([name, part]) => [name, bindingWritten(part)]);
  return { construct: { fields: Object.fromEntries(fields) } };
}

/** The spec again; whatever the form does not know stays as it was written. */
export function specOf({ kind, steps }: CompositionShape, before: JsonObject): JsonObject {
  const old = asObject(before[kind]);
  if (kind === "scatterGather")
    return { ...before, [kind]: { ...old, targets: steps.map(targetWritten) } };
  return { ...before, [kind]: { ...old, steps: steps.map(stepWritten) } };
}

function targetWritten({ tool, written }: StepShape): JsonObject {
  if (tool === null || toolOf(written) === tool) return written;
  return { ...written, tool };
}

function stepWritten({ id, tool, binding, written }: StepShape, number: number): JsonObject {
  const old = asObject(written.operation);
  const operation = tool === null || toolOf(old) === tool ? old : { ...old, tool: { name: tool } };
  const unnamed =
    !("id" in written) && id === stepFrom(written, number).id && "operation" in written;
  const next: JsonObject = { ...written, ...(unnamed ? {} : { id }), operation };
  const input = bindingWritten(binding);
  if (input === null) delete next.input;
  else if (!same(input, bindingWritten(bindingFrom(written.input)))) next.input = input;
  return next;
}

export interface Known {
  input: JsonObject;
  /** What each step has returned so far. */
  values: Record<string, Json>;
  before: Json | undefined;
}

export class NotKnown extends Error {}

/** What a step would be sent. Throws NotKnown where an earlier step has not run yet. */
export function bound(binding: Binding, known: Known): Json {
  if (binding.kind === "constant") return binding.value;
  if (binding.kind === "input") return follow(binding.path, known.input);
  if (binding.kind === "before") {
    if (known.before === undefined) throw new NotKnown("run the step before first");
    return known.before;
  }
  if (binding.kind === "step") {
    const value = known.values[binding.step];
    if (value === undefined) throw new NotKnown(`run ${binding.step} first`);
    return follow(binding.path, value);
  }
  const fields = Object.entries(binding.fields).map(([name, part]) => [name, bound(part, known)]);
  return Object.fromEntries(fields.filter(([, value]) => value !== undefined));
}

const PART = /\.([A-Za-z_]\w*)|\['((?:\\.|[^'\\])*)'\]|\[(\d+)\]|(\[\*\])/y;

/** A path of names, numbers and [*]; for any other, the whole composition must be run. */
export function follow(path: string, value: Json): Json {
  let found: Json[] = [value];
  let many = false;
  PART.lastIndex = 1;
  while (PART.lastIndex < path.length) {
    const part = PART.exec(path);
    if (!part || !path.startsWith("$"))
      throw new NotKnown(`${path} is not followed here: run the whole tool`);
    many ||= part[4] !== undefined;
    found = found.flatMap((one) => below(one, part));
  }
  return many ? found : (found[0] ?? null);
}

function below(value: Json, [, name, quoted, index, each]: RegExpExecArray): Json[] {
  if (each !== undefined)
    return Array.isArray(value) ? value : isObject(value) ? Object.values(value) : [];
  if (index !== undefined) {
    const element = Array.isArray(value) ? value[Number(index)] : undefined;
    return element === undefined ? [] : [element];
  }
  const key = name ?? quoted!.replace(/\\(.)/g, "$1");
  return isObject(value) && key in value ? [value[key]!] : [];
}

/** The paths into a value that one would want: to offer, not to limit. */
export function pathsIn(value: Json | undefined, most = 80): string[] {
  const found: string[] = ["$"];
  const visit = (part: Json, path: string[]) => {
    if (found.length >= most || path.length > 6) return;
    if (Array.isArray(part)) {
      if (part.length) visit(part[0]!, [...path, EACH]);
      return;
    }
    if (!isObject(part)) return;
    for (const [key, inside] of Object.entries(part)) {
      found.push(jsonPath([...path, key]));
      visit(inside, [...path, key]);
    }
  };
  if (value !== undefined) visit(value, []);
  return found;
}
