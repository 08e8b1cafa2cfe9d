/**
 * Markdown as a tree of values: what people and models write, not every corner of CommonMark.
 *
 * Nothing here makes HTML: markup in the text stays text, and whoever draws the tree decides what
 * a link or an image may do. Texts come from servers that nobody vouches for, so every step takes
 * time in proportion to the text, and nesting has an end.
 */

export type Inline =
  | string
  | { kind: "code"; text: string }
  | { kind: "strong" | "em" | "del"; inside: Inline[] }
  | { kind: "link" | "image"; to: string; inside: Inline[] };

export type Block =
  | { kind: "heading"; level: number; inside: Inline[] }
  | { kind: "paragraph"; inside: Inline[] }
  | { kind: "code"; text: string; language: string }
  | { kind: "quote"; blocks: Block[] }
  | { kind: "list"; start: number | null; items: Block[][] }
  | { kind: "table"; head: Inline[][]; rows: Inline[][][] }
  | { kind: "rule" };

const DEEPEST = 6;
const FENCE = /^ {0,3}(`{3,}|~{3,})[ \t]*([^`]*)$/;
const HEADING = /^ {0,3}(#{1,6})(?=[ \t]|$)/;
const UNDERLINE = /^ {0,3}(=+|-{2,})[ \t]*$/;
const RULE = /^ {0,3}([-*_])(?:[ \t]*\1){2,}[ \t]*$/;
const QUOTE = /^ {0,3}> ?/;
const ITEM = /^( {0,3})([-*+]|\d{1,9}[.)])(?: {1,4}(?=\S)| |$)/;

export function blocksIn(text: string): Block[] {
  return blocks(text.replace(/\r\n?/g, "\n").replace(/\t/g, "    ").split("\n"), 0);
}

/** Reads one block from where it begins; null where there is none of its kind. */
type Reader = (lines: string[], at: number, depth: number) => { block: Block; next: number } | null;

const READERS: Reader[] = [fence, heading, rule, quote, list, table];

function blocks(lines: string[], depth: number): Block[] {
  const found: Block[] = [];
  let at = 0;
  while (at < lines.length) {
    if (!lines[at]!.trim()) {
      at++;
      continue;
    }
    const read = begins(lines, at, depth) ?? paragraph(lines, at, depth);
    found.push(read.block);
    at = read.next;
  }
  return found;
}

function begins(lines: string[], at: number, depth: number) {
  for (const reader of READERS) {
    const read = reader(lines, at, depth);
    if (read) return read;
  }
  return null;
}

function fence(lines: string[], at: number) {
  const open = FENCE.exec(lines[at]!);
  if (!open) return null;
  const [, ticks = "", language = ""] = open;
  const closes = (line: string) => {
    const shut = line.trim();
    return shut.startsWith(ticks) && [...shut].every((char) => char === ticks[0]);
  };
  let end = at + 1;
  while (end < lines.length && !closes(lines[end]!)) end++;
  const text = lines.slice(at + 1, end).join("\n");
  return { block: { kind: "code" as const, text, language: language.trim() }, next: end + 1 };
}

function heading(lines: string[], at: number) {
  const marks = HEADING.exec(lines[at]!);
  if (!marks) return null;
  const text = lines[at]!.slice(marks[0].length).trim().replace(/ #+$/, "");
  return { block: headed(marks[1]!.length, text), next: at + 1 };
}

function headed(level: number, text: string): Block {
  return { kind: "heading", level, inside: inline(text) };
}

function rule(lines: string[], at: number) {
  return RULE.test(lines[at]!) ? { block: { kind: "rule" as const }, next: at + 1 } : null;
}

function quote(lines: string[], at: number, depth: number) {
  let end = at;
  while (end < lines.length && QUOTE.test(lines[end]!)) end++;
  if (end === at || depth >= DEEPEST) return null;
  const inner = lines.slice(at, end).map((line) => line.replace(QUOTE, ""));
  return { block: { kind: "quote" as const, blocks: blocks(inner, depth + 1) }, next: end };
}

function list(lines: string[], at: number, depth: number) {
  const first = ITEM.exec(lines[at]!);
  if (!first || depth >= DEEPEST) return null;
  const kind = first[2]!.at(-1)!;
  const items: Block[][] = [];
  let next = at;
  while (next < lines.length) {
    const mark = ITEM.exec(lines[next]!);
    if (!mark || mark[2]!.at(-1) !== kind || RULE.test(lines[next]!)) break;
    const end = endOfItem(lines, next, mark[0].length);
    const own = lines.slice(next + 1, end).map((line) => outdented(line, mark[0].length));
    items.push(blocks([lines[next]!.slice(mark[0].length), ...own], depth + 1));
    next = end;
  }
  if (!items.length) return null;
  const start = /\d/.test(first[2]!) ? Number.parseInt(first[2]!, 10) : null;
  return { block: { kind: "list" as const, start, items }, next };
}

/** An item has what is indented below it, and the rest of its own paragraph. */
function endOfItem(lines: string[], at: number, indent: number): number {
  let end = at + 1;
  for (let i = at + 1; i < lines.length; i++) {
    const line = lines[i]!;
    if (!line.trim()) continue;
    const inside = line.search(/\S/) >= Math.max(2, indent);
    const goesOn = end === i && !interrupts(line);
    if (!inside && !goesOn) break;
    end = i + 1;
  }
  return end;
}

function outdented(line: string, indent: number): string {
  return line.slice(Math.min(indent, Math.max(0, line.search(/\S/))));
}

function interrupts(line: string): boolean {
  return [FENCE, HEADING, RULE, QUOTE, ITEM].some((start) => start.test(line));
}

function table(lines: string[], at: number) {
  if (!lines[at]!.includes("|") || !lines[at + 1]?.includes("-")) return null;
  const head = cells(lines[at]!);
  const dashes = cells(lines[at + 1]!);
  if (head.length !== dashes.length || !dashes.every((cell) => /^:?-+:?$/.test(cell))) return null;
  const rows: Inline[][][] = [];
  let next = at + 2;
  for (; lines[next]?.includes("|"); next++) {
    const row = cells(lines[next]!);
    rows.push(head.map((_, column) => inline(row[column] ?? "")));
  }
  return {
    block: { kind: "table" as const, head: head.map((cell) => inline(cell)), rows },
    next,
  };
}

function cells(line: string): string[] {
  const bare = line.trim().replace(/^\|/, "").replace(/\|$/, "");
  const found: string[] = [""];
  for (let i = 0; i < bare.length; i++) {
    const escaped = bare[i] === "\\" && bare[i + 1] === "|";
    if (bare[i] === "|") found.push("");
    else found[found.length - 1] += escaped ? bare[++i]! : bare[i]!;
  }
  return found.map((cell) => cell.trim());
}

function paragraph(lines: string[], at: number, depth: number) {
  const own = [lines[at]!];
  let next = at + 1;
  for (; next < lines.length && lines[next]!.trim(); next++) {
    const under = UNDERLINE.exec(lines[next]!);
    if (under) return { block: headed(under[1]![0] === "=" ? 1 : 2, joined(own)), next: next + 1 };
    if (interrupts(lines[next]!) && depth < DEEPEST) break;
    own.push(lines[next]!);
  }
  return { block: { kind: "paragraph" as const, inside: inline(joined(own)) }, next };
}

const joined = (lines: string[]) => lines.map((line) => line.trim()).join("\n");

// What an inline thing may begin with: everything else is skipped at once.
const SPECIAL = /[\\`*_~[!<]|https?:\/\//g;
const ESCAPED = /[!-/:-@[-`{-~]/;
const ADDRESS = /https?:\/\/[^\s<>"`\\]+/y;
const BRACKETED = /<(https?:\/\/[^\s<>]+)>/y;
const RUN = /`+|\*+|_+|~+/y;
const TARGET =
  /\(\s{0,9}<?([^()\s<>]*(?:\([^()\s<>]*\)[^()\s<>]*)?)>?(?:\s{1,9}["'(][^"')]*["')])?\s{0,9}\)/y;
const MARKS: Record<string, "strong" | "em" | "del"> = {
  "**": "strong",
  __: "strong",
  "*": "em",
  _: "em",
  "~~": "del",
};

interface Step {
  value: Inline;
  next: number;
}

export function inline(text: string, depth = 0): Inline[] {
  const found: Inline[] = [];
  /** Marks that nothing closes from here on: they need not be looked for again. */
  const open = new Set<string>();
  let at = 0;
  const put = (value: Inline) => {
    const last = found.at(-1);
    if (typeof value === "string" && typeof last === "string")
      found[found.length - 1] = last + value;
    else if (value !== "") found.push(value);
  };
  while (at < text.length) {
    SPECIAL.lastIndex = at;
    const special = depth > DEEPEST ? null : SPECIAL.exec(text);
    put(text.slice(at, special?.index ?? text.length));
    if (!special) break;
    const step = stepAt(text, special.index, depth, open);
    put(step.value);
    at = step.next;
  }
  return found;
}

function stepAt(text: string, at: number, depth: number, open: Set<string>): Step {
  const char = text[at]!;
  const step =
    char === "\\"
      ? escaped(text, at)
      : char === "`"
        ? code(text, at, open)
        : char === "h"
          ? address(text, at)
          : char === "<"
            ? bracketed(text, at)
            : char === "[" || char === "!"
              ? link(text, at, depth, open)
              : marked(text, at, depth, open);
  return step ?? { value: char, next: at + 1 };
}

function matched(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(text);
}

function escaped(text: string, at: number): Step | null {
  const next = text[at + 1];
  return next && ESCAPED.test(next) ? { value: next, next: at + 2 } : null;
}

function code(text: string, at: number, open: Set<string>): Step {
  const ticks = matched(RUN, text, at)![0];
  const start = at + ticks.length;
  const plain = { value: ticks, next: start };
  if (open.has(ticks)) return plain;
  for (let end = text.indexOf(ticks, start); end >= 0; end = text.indexOf(ticks, end)) {
    const run = matched(RUN, text, end)![0];
    if (run === ticks)
      return { value: { kind: "code", text: text.slice(start, end) }, next: end + run.length };
    end += run.length;
  }
  open.add(ticks);
  return plain;
}

function address(text: string, at: number): Step | null {
  const found = matched(ADDRESS, text, at);
  if (!found || /\w/.test(text[at - 1] ?? "")) return null;
  let to = found[0].replace(/[.,;:!?*_~'|]+$/, "");
  if (to.endsWith(")") && !to.includes("(")) to = to.replace(/\)+$/, "");
  return { value: { kind: "link", to, inside: [to] }, next: at + to.length };
}

function bracketed(text: string, at: number): Step | null {
  const found = matched(BRACKETED, text, at);
  if (!found) return null;
  const to = found[1]!;
  return { value: { kind: "link", to, inside: [to] }, next: at + found[0].length };
}

function link(text: string, at: number, depth: number, open: Set<string>): Step | null {
  const image = text[at] === "!";
  const start = at + (image ? 2 : 1);
  if ((image && text[at + 1] !== "[") || open.has("[")) return null;
  const end = closing(text, start);
  if (end < 0) open.add("[");
  const target = end < 0 ? null : matched(TARGET, text, end + 1);
  if (!target) return null;
  const inside = inline(text.slice(start, end), depth + 1);
  const value: Inline = { kind: image ? "image" : "link", to: target[1]!, inside };
  return { value, next: end + 1 + target[0].length };
}

const LONGEST_LABEL = 1_000;

/** Where the bracket closes that was opened just before; a label is not longer than so much. */
function closing(text: string, start: number): number {
  let level = 1;
  for (let i = start; i < Math.min(text.length, start + LONGEST_LABEL); i++) {
    if (text[i] === "\\") i++;
    else if (text[i] === "[") level++;
    else if (text[i] === "]" && --level === 0) return i;
  }
  return -1;
}

function marked(text: string, at: number, depth: number, open: Set<string>): Step {
  const run = matched(RUN, text, at)![0];
  const mark = run.slice(0, run[0] === "~" || run.length > 1 ? 2 : 1);
  const kind = MARKS[mark];
  const before = text[at - 1] ?? " ";
  const after = text[at + run.length] ?? " ";
  const opens = kind && /\S/.test(after) && !(run[0] === "_" && /\w/.test(before));
  const end = opens && !open.has(mark) ? closingMark(text, at + mark.length, mark) : -1;
  if (opens && end < 0) open.add(mark);
  if (!kind || end < 0) return { value: run, next: at + run.length };
  const inside = inline(text.slice(at + mark.length, end), depth + 1);
  return { value: { kind, inside }, next: end + mark.length };
}

function closingMark(text: string, start: number, mark: string): number {
  for (let at = text.indexOf(mark, start); at >= 0; at = text.indexOf(mark, at)) {
    const run = matched(RUN, text, at)![0];
    const last = at + run.length;
    const fits = mark.length === 2 ? run.length >= 2 : run.length !== 2;
    const closes = /\S/.test(text[at - 1] ?? " ") && text[at - 1] !== "\\";
    if (at > start && fits && closes && !(mark[0] === "_" && /\w/.test(text[last] ?? "")))
      return last - mark.length;
    at = last;
  }
  return -1;
}
