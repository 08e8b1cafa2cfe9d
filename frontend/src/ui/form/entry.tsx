/** Inputs for a value that is typed: a text or a number. */
import { useEffect, useState } from "preact/hooks";
import { compact } from "../../json";
import { asList, typesOf, type Schema } from "../../model/schema";
import { ariaLabel, type InputProps } from "./input";

const FORMATS: Record<string, "email" | "url" | "date" | "text" | "time" | "password"> = {
  email: "email",
  uri: "url",
  date: "date",
  "date-time": "text",
  time: "time",
  password: "password",
};

export function TextInput({ id, schema, value, change, required, complete, label }: InputProps) {
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
    ...ariaLabel(label),
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

export function NumberInput({ id, schema, value, change, required, label }: InputProps) {
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
        {...ariaLabel(label)}
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
