/**
 * Is this what a form asked for? The schemas of elicitation, by the rules of the server
 * (src/toolyard/protocol/answers.py); a test holds both to the same cases. Imports no value.
 */
import type { Json, JsonObject } from "../types";

const MOST_CHOICES = 20;
const MOST_LEVELS = 8;

/** What is wrong with each field, by its name; nothing where all is well. */
export function wrongFields(content: JsonObject, schema: JsonObject): Record<string, string> {
  const found: Record<string, string> = {};
  for (const name of list(schema.required))
    if (typeof name === "string" && empty(content[name])) found[name] = "is required";
  for (const [name, field] of Object.entries(object(schema.properties))) {
    if (empty(content[name])) continue;
    const wrong = wrongValue(content[name] as Json, field, 0);
    if (wrong) found[name] = wrong;
  }
  return found;
}

const empty = (value: Json | undefined) => value === undefined || value === null;

/** What is wrong with one value; "" where nothing is. */
export function wrongValue(value: Json, schema: Json | undefined, level: number): string {
  const field = object(schema);
  if (level > MOST_LEVELS) return "";
  return (
    wrongKind(value, field) ||
    wrongChoice(value, field) ||
    wrongNumber(value, field) ||
    wrongText(value, field) ||
    wrongList(value, field, level) ||
    wrongObject(value, field, level)
  );
}

const isNumber = (value: unknown): value is number | bigint =>
  typeof value === "number" || typeof value === "bigint";

const KINDS: Record<string, [string, (value: Json) => boolean]> = {
  string: ["text", (value) => typeof value === "string"],
  number: ["a number", isNumber],
  integer: [
    "a whole number",
    (value) => typeof value === "bigint" || (typeof value === "number" && Number.isInteger(value)),
  ],
  boolean: ["true or false", (value) => typeof value === "boolean"],
  array: ["a list", Array.isArray],
  object: [
    "an object",
    (value) => value !== null && typeof value === "object" && !Array.isArray(value),
  ],
  null: ["null", (value) => value === null],
};

function wrongKind(value: Json, field: JsonObject): string {
  const stated = Array.isArray(field.type) ? field.type : [field.type];
  const kinds = stated.flatMap((one) =>
    typeof one === "string" && KINDS[one] ? [KINDS[one]] : [],
  );
  if (!kinds.length || kinds.some(([, fits]) => fits(value))) return "";
  return `must be ${kinds.map(([phrase]) => phrase).join(" or ")}`;
}

function wrongChoice(value: Json, field: JsonObject): string {
  const choices = choicesOf(field);
  if (!choices || choices.some((choice) => JSON.stringify(choice) === JSON.stringify(value)))
    return "";
  const shown = choices.slice(0, MOST_CHOICES).map(String).join(", ");
  return `must be one of ${shown}${choices.length > MOST_CHOICES ? ", ..." : ""}`;
}

function choicesOf(field: JsonObject): Json[] | null {
  for (const titled of [field.oneOf, field.anyOf])
    if (Array.isArray(titled) && titled.every((one) => "const" in object(one)))
      return titled.map((one) => object(one).const as Json);
  if ("const" in field) return [field.const as Json];
  return Array.isArray(field.enum) ? field.enum : null;
}

function wrongNumber(value: Json, field: JsonObject): string {
  if (!isNumber(value)) return "";
  const { minimum, maximum, exclusiveMinimum: above, exclusiveMaximum: below } = field;
  if (isNumber(minimum) && value < minimum) return `must be at least ${minimum}`;
  if (isNumber(maximum) && value > maximum) return `must be at most ${maximum}`;
  if (isNumber(above) && value <= above) return `must be above ${above}`;
  if (isNumber(below) && value >= below) return `must be below ${below}`;
  return "";
}

function wrongText(value: Json, field: JsonObject): string {
  if (typeof value !== "string") return "";
  const wrong = wrongCount([...value].length, field.minLength, field.maxLength, "characters");
  const format = FORMATS[String(field.format)];
  return wrong || (format && !format[1](value) ? `must be ${format[0]}` : "");
}

function wrongList(value: Json, field: JsonObject, level: number): string {
  if (!Array.isArray(value)) return "";
  const wrong = wrongCount(value.length, field.minItems, field.maxItems, "choices");
  if (wrong) return wrong;
  for (const one of value) {
    const inside = wrongValue(one, field.items, level + 1);
    if (inside) return inside;
  }
  return "";
}

function wrongObject(value: Json, field: JsonObject, level: number): string {
  if (!KINDS.object![1](value)) return "";
  const members = value as JsonObject;
  for (const name of list(field.required))
    if (typeof name === "string" && !(name in members)) return `${name}: is required`;
  for (const [name, part] of Object.entries(object(field.properties))) {
    const wrong = name in members ? wrongValue(members[name] as Json, part, level + 1) : "";
    if (wrong) return `${name}: ${wrong}`;
  }
  return "";
}

function wrongCount(
  count: number,
  least: Json | undefined,
  most: Json | undefined,
  what: string,
): string {
  if (isNumber(least) && count < least) return `must have at least ${least} ${what}`;
  if (isNumber(most) && count > most) return `must have at most ${most} ${what}`;
  return "";
}

const DAYS = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

function isDate(text: string): boolean {
  const found = /^(\d{4})-(\d{2})-(\d{2})$/.exec(text);
  if (!found) return false;
  const [year, month, day] = found.slice(1).map(Number) as [number, number, number];
  if (month < 1 || month > 12 || day < 1 || day > DAYS[month - 1]!) return false;
  const leap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
  return month !== 2 || day < 29 || leap;
}

function isDateTime(text: string): boolean {
  const time = /^(\d{2}):(\d{2}):(\d{2})(?:\.\d+)?(?:Z|[+-](\d{2}):(\d{2}))$/i.exec(text.slice(11));
  if (!isDate(text.slice(0, 10)) || !/^[Tt ]$/.test(text.slice(10, 11)) || !time) return false;
  const [hours, minutes, seconds, east, more] = time.slice(1).map((part) => Number(part ?? 0));
  return Math.max(hours!, east!) < 24 && Math.max(minutes!, more!) < 60 && seconds! <= 60;
}

const FORMATS: Record<string, [string, (text: string) => boolean]> = {
  email: ["an e-mail address", (text) => /^[^@\s]+@[^@\s]+$/.test(text)],
  uri: ["a URI", (text) => /^[A-Za-z][A-Za-z0-9+.-]*:\S+$/.test(text)],
  date: ["a date like 2026-07-28", isDate],
  "date-time": ["a date and time like 2026-07-28T12:00:00Z", isDateTime],
};

const list = (value: Json | undefined): Json[] => (Array.isArray(value) ? value : []);
const object = (value: Json | undefined): JsonObject =>
  value !== null && typeof value === "object" && !Array.isArray(value) ? (value as JsonObject) : {};
