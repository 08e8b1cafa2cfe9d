/** Inputs for a value that is picked: yes or no, one of a list, several of it, the only one there is. */
import { compact } from "../../json";
import { choices } from "../../model/schema";
import type { Json } from "../../types";
import { Text, plain } from "../text";
import { ariaLabel, type InputProps } from "./input";

export function BooleanInput({ id, name, value, change, required }: InputProps) {
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

export function ChoiceInput({ id, schema, value, change, required, label }: InputProps) {
  const options = choices(schema);
  const index = options.findIndex((option) => compact(option.value) === compact(value));
  return (
    <select
      id={id}
      value={String(index)}
      aria-required={required}
      {...ariaLabel(label)}
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

export function ConstantInput({ schema, value, change, required, name }: InputProps) {
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

export function ManyOf({
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
