/** Values that no schema describes: JSON, as it is typed. */
import { useEffect, useId, useState } from "preact/hooks";
import { compact, parse, pretty } from "../../json";
import type { Json, JsonObject } from "../../types";
import { IconButton } from "../controls";
import { Icon } from "../icon";
import { Text } from "../text";
import { ariaLabel } from "./input";

export function RawInput({
  id,
  value,
  change,
  label,
  judge,
}: {
  id: string;
  value: Json | undefined;
  change: (value: Json | undefined) => void;
  label?: string;
  /** Told what is wrong with the text, and "" when nothing is. */
  judge?: (wrong: string) => void;
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
      judge?.("");
    } catch (error) {
      setWrong((error as Error).message);
      judge?.((error as Error).message);
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
        {...ariaLabel(label)}
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

/** Members that the schema does not name. */
export function OtherMembers({
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
