/** A form made from a JSON Schema. A field that was never touched is not sent. */
import type { ComponentChildren } from "preact";
import { useEffect, useId, useState } from "preact/hooks";
import { compact, parse, pretty } from "../json";
import {
  asList,
  asObject,
  choices,
  initial,
  nullable,
  resolved,
  shapeOf,
  typesOf,
  variantLabel,
  variantOf,
  variants,
  type Schema,
  type Shape,
} from "../model/schema";
import { isObject, type Json, type JsonObject } from "../types";
import { IconButton } from "./controls";
import { Icon } from "./icon";
import { Text, plain } from "./text";

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

export function ObjectFields({
  schema,
  root,
  value,
  change,
  depth = 0,
  complete,
  problems = {},
}: {
  schema: Schema;
  root: Schema;
  value: JsonObject;
  change: (value: JsonObject) => void;
  depth?: number;
  complete?: Complete;
  problems?: Record<string, string>;
}) {
  const properties = Object.entries(asObject(schema.properties));
  const needed = asList(schema.required);
  const set = (name: string, part: Json | undefined) => {
    const { [name]: _, ...rest } = value;
    change(part === undefined ? rest : { ...value, [name]: part });
  };
  return (
    <div class="fields">
      {properties.map(([name, part]) => (
        <Field
          key={name}
          name={name}
          schema={resolved(part, root)}
          root={root}
          value={value[name]}
          change={(part) => set(name, part)}
          required={needed.includes(name)}
          depth={depth}
          {...(problems[name] ? { problem: problems[name] } : {})}
          {...(complete ? { complete: (text: string) => complete(name, text, value) } : {})}
        />
      ))}
      {schema.additionalProperties !== false && (depth > 0 || !properties.length) && (
        <Others known={properties.map(([name]) => name)} value={value} change={change} />
      )}
    </div>
  );
}

function Field(props: FieldProps) {
  const { name, schema, value, change, required } = props;
  const id = useId();
  const shape = shapeOf(schema);
  const grouped = shape === "object" || shape === "array" || shape === "either";
  const Tag = grouped ? "fieldset" : "div";
  const Label = grouped ? "legend" : "label";
  const Input = INPUTS[shape];
  const title = typeof schema.title === "string" ? schema.title : "";
  return (
    <Tag class={`field ${grouped ? "grouped" : ""}`}>
      <div class="field-head">
        <Label {...(grouped ? {} : { htmlFor: id })}>
          <code>
            <Text of={name} />
          </code>{" "}
          {title && title !== name && (
            <span class="field-title">
              <Text of={title} />
            </span>
          )}{" "}
          {required && <span class="needed">required</span>}
        </Label>
        <span class="field-type">{typeLine(schema)}</span>
        {value !== undefined && !required && shape !== "boolean" && (
          <IconButton icon="close" label={`Clear ${name}`} act={() => change(undefined)} />
        )}
      </div>
      {typeof schema.description === "string" && (
        <p class="field-help" id={`${id}-help`}>
          <Text of={schema.description.slice(0, 1000)} />
        </p>
      )}
      <Input {...props} id={id} />
      {props.problem && (
        <p class="field-wrong" role="alert">
          <Text of={`${name} ${props.problem}.`} />
        </p>
      )}
    </Tag>
  );
}

function typeLine(schema: Schema): string {
  const parts = [typesOf(schema).join(" | "), schema.format];
  const { minimum, maximum } = schema;
  if (minimum !== undefined && maximum !== undefined) parts.push(`${minimum} to ${maximum}`);
  else if (minimum !== undefined) parts.push(`${minimum} or more`);
  else if (maximum !== undefined) parts.push(`${maximum} or less`);
  return parts.filter((part) => typeof part === "string" && part).join(", ");
}

/** `label` where no label element points at the input. */
type InputProps = FieldProps & { id: string; label?: string };

const named = (label: string | undefined) => (label ? { "aria-label": label } : {});

const FORMATS: Record<string, "email" | "url" | "date" | "text" | "time" | "password"> = {
  email: "email",
  uri: "url",
  date: "date",
  "date-time": "text",
  time: "time",
  password: "password",
};

function TextInput({ id, schema, value, change, required, complete, label }: InputProps) {
  const [offers, setOffers] = useState<string[]>([]);
  const text = typeof value === "string" ? value : "";
  const type = FORMATS[String(schema.format ?? "")];
  const typed = (event: { currentTarget: { value: string } }) => {
    const entered = event.currentTarget.value;
    change(entered === "" && !required ? undefined : entered);
    if (complete) void complete(entered).then(setOffers, () => setOffers([]));
  };
  const shared = {
    id,
    value: text,
    onInput: typed,
    placeholder: placeholder(schema),
    spellcheck: false,
    "aria-describedby": `${id}-help`,
    "aria-required": required,
    ...named(label),
  };
  if (complete)
    return (
      <>
        <input
          type="text"
          {...shared}
          list={`${id}-offers`}
          autocomplete="off"
          onFocus={() => void complete(text).then(setOffers, () => setOffers([]))}
        />
        <datalist id={`${id}-offers`}>
          {offers.map((offer) => (
            <option key={offer} value={offer} />
          ))}
        </datalist>
      </>
    );
  if (type) return <input {...shared} {...({ type } as { type: "text" })} autocomplete="off" />;
  return <textarea rows={1} {...shared} />;
}

function placeholder(schema: Schema): string {
  const example = asList(schema.examples)[0];
  return example === undefined
    ? ""
    : `e.g. ${typeof example === "string" ? example : compact(example)}`;
}

function NumberInput({ id, schema, value, change, required, label }: InputProps) {
  const [text, setText] = useState(value === undefined ? "" : String(value));
  useEffect(() => {
    if (value === undefined ? text !== "" : Number(text) !== Number(value))
      setText(value === undefined ? "" : String(value));
  }, [value]);
  const wrong = text !== "" && numberIn(text) === undefined;
  return (
    <>
      <input
        id={id}
        type="text"
        inputMode={typesOf(schema).includes("integer") ? "numeric" : "decimal"}
        value={text}
        aria-invalid={wrong}
        aria-required={required}
        {...named(label)}
        aria-describedby={`${id}-help`}
        placeholder={placeholder(schema)}
        onInput={(event) => {
          setText(event.currentTarget.value);
          change(numberIn(event.currentTarget.value));
        }}
      />
      {wrong && <p class="field-wrong">This is not a number.</p>}
    </>
  );
}

function numberIn(text: string): number | bigint | undefined {
  const trimmed = text.trim();
  if (/^-?\d{16,}$/.test(trimmed)) return BigInt(trimmed);
  if (!/^-?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(trimmed)) return undefined;
  return Number(trimmed);
}

function BooleanInput({ id, name, value, change, required }: InputProps) {
  const options: [string, boolean | undefined][] = [
    ["true", true],
    ["false", false],
  ];
  if (!required) options.unshift(["not set", undefined]);
  return (
    <div class="segments" role="radiogroup" aria-label={name}>
      {options.map(([label, option], index) => (
        <label key={label}>
          <input
            type="radio"
            name={id}
            {...(index === 0 ? { id } : {})}
            checked={value === option}
            onChange={() => change(option)}
          />
          <span>{label}</span>
        </label>
      ))}
    </div>
  );
}

function ChoiceInput({ id, schema, value, change, required, label }: InputProps) {
  const options = choices(schema);
  const index = options.findIndex((option) => compact(option.value) === compact(value));
  return (
    <select
      id={id}
      value={String(index)}
      aria-required={required}
      {...named(label)}
      aria-describedby={`${id}-help`}
      onChange={(event) => change(options[Number(event.currentTarget.value)]?.value)}
    >
      <option value="-1">{required ? "choose…" : "not set"}</option>
      {options.map((option, at) => (
        <option key={at} value={String(at)}>
          {plain(option.label)}
        </option>
      ))}
    </select>
  );
}

function ConstantInput({ schema, value, change, required, name }: InputProps) {
  const set = value !== undefined;
  return (
    <label class="constant">
      <input
        type="checkbox"
        checked={set}
        disabled={required && set}
        aria-label={`Send ${name}`}
        onChange={() => change(set ? undefined : schema.const)}
      />
      <code>
        <Text of={compact(schema.const)} />
      </code>
    </label>
  );
}

function ObjectInput({ schema, root, value, change, depth, name }: InputProps) {
  if (!isObject(value))
    return (
      <AddButton label={`Add ${name}`} act={() => change(initial(schema, root, true) ?? {})} />
    );
  return (
    <ObjectFields schema={schema} root={root} value={value} change={change} depth={depth + 1} />
  );
}

function ArrayInput({ id, schema, root, value, change, depth, name }: InputProps) {
  const items = resolved(schema.items, root);
  const options = choices(items);
  const list = Array.isArray(value) ? value : [];
  if (options.length && options.length <= 30)
    return <ManyOf options={options.map((o) => o.value)} list={list} change={change} />;
  const put = (index: number, part: Json | undefined) =>
    change(list.map((old, at) => (at === index ? (part ?? null) : old)));
  return (
    <div class="items" id={id}>
      {list.map((part, index) => (
        <div class="item" key={index}>
          <Field
            name={String(index)}
            schema={items}
            root={root}
            value={part ?? undefined}
            change={(changed) => put(index, changed)}
            required
            depth={depth + 1}
          />
          <IconButton
            icon="trash"
            label={`Remove item ${index} of ${name}`}
            act={() => change(list.filter((_, at) => at !== index))}
          />
        </div>
      ))}
      <AddButton
        label={`Add an item to ${name}`}
        act={() => change([...list, initial(items, root, true) ?? blank(items)])}
      />
    </div>
  );
}

function blank(schema: Schema): Json {
  return (
    { text: "", number: 0, boolean: false, array: [], object: {} }[shapeOf(schema) as string] ??
    null
  );
}

function ManyOf({
  options,
  list,
  change,
}: {
  options: Json[];
  list: Json[];
  change: (value: Json) => void;
}) {
  const has = (option: Json) => list.some((one) => compact(one) === compact(option));
  return (
    <div class="many">
      {options.map((option) => (
        <label key={compact(option)}>
          <input
            type="checkbox"
            checked={has(option)}
            onChange={() =>
              change(options.filter((one) => (one === option ? !has(one) : has(one))))
            }
          />
          <span>{String(option)}</span>
        </label>
      ))}
    </div>
  );
}

function EitherInput(props: InputProps) {
  const { schema, root, value, change, name } = props;
  const all = variants(schema).map((one) => resolved(one, root));
  const [chosen, setChosen] = useState(() => variantOf(all, value));
  const variant = all[chosen] ?? {};
  const Input = INPUTS[shapeOf(variant)];
  const pick = (index: number) => {
    setChosen(index);
    change(typesOf(all[index]!).includes("null") ? null : initial(all[index]!, root, true));
  };
  return (
    <div class="either">
      <select
        aria-label={`Which kind of ${name}`}
        value={String(chosen)}
        onChange={(event) => pick(Number(event.currentTarget.value))}
      >
        {all.map((one, index) => (
          <option key={index} value={String(index)}>
            {plain(variantLabel(one, index))}
          </option>
        ))}
      </select>
      {!onlyNull(variant) && <Input {...props} schema={variant} label={name} />}
    </div>
  );
}

const onlyNull = (schema: Schema) => nullable(schema) && typesOf(schema).length === 1;

/** Anything that has no form: JSON, as it is typed. */
export function RawInput({
  id,
  value,
  change,
  label,
}: {
  id: string;
  value: Json | undefined;
  change: (value: Json | undefined) => void;
  label?: string;
}) {
  const [text, setText] = useState(() => pretty(value));
  const [wrong, setWrong] = useState("");
  useEffect(() => {
    const known = attempt(text);
    if (compact(known) !== compact(value)) setText(pretty(value));
  }, [value]);
  const typed = (entered: string) => {
    setText(entered);
    try {
      change(entered.trim() ? parse(entered) : undefined);
      setWrong("");
    } catch (error) {
      setWrong((error as Error).message);
    }
  };
  return (
    <>
      <textarea
        id={id}
        class="json"
        rows={4}
        value={text}
        spellcheck={false}
        aria-invalid={wrong !== ""}
        {...(label ? { "aria-label": label } : {})}
        onInput={(event) => typed(event.currentTarget.value)}
      />
      {wrong && <p class="field-wrong">{wrong}</p>}
    </>
  );
}

function attempt(text: string): Json | undefined {
  try {
    return parse(text);
  } catch {
    return undefined;
  }
}

const INPUTS: Record<Shape, (props: InputProps) => ComponentChildren> = {
  text: TextInput,
  number: NumberInput,
  boolean: BooleanInput,
  choice: ChoiceInput,
  constant: ConstantInput,
  object: ObjectInput,
  array: ArrayInput,
  either: EitherInput,
  raw: ({ id, value, change, label }) => (
    <RawInput id={id} value={value} change={change} {...(label ? { label } : {})} />
  ),
};

function AddButton({ label, act }: { label: string; act: () => void }) {
  return (
    <button type="button" class="button small" onClick={act}>
      <Icon name="plus" /> {label}
    </button>
  );
}

/** Members that the schema does not name. */
function Others({
  known,
  value,
  change,
}: {
  known: string[];
  value: JsonObject;
  change: (value: JsonObject) => void;
}) {
  const id = useId();
  const [name, setName] = useState("");
  const others = Object.entries(value).filter(([key]) => !known.includes(key));
  return (
    <>
      {others.map(([key, part]) => (
        <div class="field" key={key}>
          <div class="field-head">
            <label htmlFor={`${id}-${key}`}>
              <code>
                <Text of={key} />
              </code>
            </label>
            <IconButton
              icon="close"
              label={`Remove ${key}`}
              act={() => {
                const { [key]: _, ...rest } = value;
                change(rest);
              }}
            />
          </div>
          <RawInput
            id={`${id}-${key}`}
            value={part}
            change={(changed) => change({ ...value, [key]: changed ?? null })}
          />
        </div>
      ))}
      <div class="add-member">
        <input
          type="text"
          value={name}
          placeholder="another field"
          aria-label="Name of another field"
          onInput={(event) => setName(event.currentTarget.value)}
        />
        <button
          type="button"
          class="button small"
          disabled={!name || name in value}
          onClick={() => {
            change({ ...value, [name]: "" });
            setName("");
          }}
        >
          <Icon name="plus" /> Add
        </button>
      </div>
    </>
  );
}
