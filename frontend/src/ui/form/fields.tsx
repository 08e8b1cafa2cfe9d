/** A form made from a JSON Schema. A field that was never touched is not sent.

    An object's fields are inputs by the shape of their schema. Three of these are made of fields
    again (an object, an array, one of several variants), which is why they are together here. */
import type { ComponentChildren } from "preact";
import { useId, useState } from "preact/hooks";
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
} from "../../model/schema";
import { isObject, type Json, type JsonObject } from "../../types";
import { IconButton } from "../controls";
import { Icon } from "../icon";
import { Text, plain } from "../text";
import { BooleanInput, ChoiceInput, ConstantInput, ManyOf } from "./choice";
import { NumberInput, TextInput } from "./entry";
import type { Complete, FieldProps, InputProps } from "./input";
import { OtherMembers, RawInput } from "./raw";

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
        <OtherMembers known={properties.map(([name]) => name)} value={value} change={change} />
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
