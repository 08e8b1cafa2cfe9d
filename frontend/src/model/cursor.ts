/** Where in a JSON text a position is: in which value, at a key or at a value. */

export interface Place {
  /** Of the container for a key, of the value itself for a value. */
  path: (string | number)[];
  isKey: boolean;
  inString: boolean;
  /** Where what is being typed begins, and whether anything is. */
  from: number;
  typed: boolean;
  /** The keys that the object has before this. */
  present: string[];
}

interface Level {
  object: boolean;
  key: string | null;
  index: number;
  keys: string[];
  /** An object waits for a value once its key and colon have come. */
  valueNext: boolean;
}

const TOKEN = /\/\/[^\n]*|\/\*[\s\S]*?(?:\*\/|$)|"(?:\\.|[^"\\])*("?)|[[\]{},:]|[\w$.+-]+/g;

/** Null inside a comment. */
export function placeAt(text: string, at: number): Place | null {
  const levels: Level[] = [];
  let last: { start: number; word: string } | null = null;
  for (const found of text.slice(0, at).matchAll(TOKEN)) {
    const word = found[0];
    const end = found.index + word.length;
    last = end === at ? { start: found.index, word } : null;
    const comment = word.startsWith("//") || word.startsWith("/*");
    if (comment && last && !word.endsWith("*/")) return null;
    const open = last !== null && isOpen(word);
    if (!comment && !open) step(levels, word);
  }
  return described(levels, last && isOpen(last.word) ? last : null, at);
}

/** A text or a word that still goes on where the cursor is. */
function isOpen(word: string): boolean {
  return word.startsWith('"') ? !/^"(?:\\.|[^"\\])*"$/.test(word) : /^[\w$.+-]+$/.test(word);
}

function step(levels: Level[], word: string): void {
  const top = levels.at(-1);
  if (word === "{" || word === "[")
    levels.push({ object: word === "{", key: null, index: 0, keys: [], valueNext: false });
  else if (word === "}" || word === "]") levels.pop();
  else if (word === "," && top) {
    top.index++;
    top.key = null;
    top.valueNext = false;
  } else if (word === ":" && top) top.valueNext = true;
  else if (top?.object && !top.valueNext && word.startsWith('"')) {
    top.key = word.slice(1, -1);
    top.keys.push(top.key);
  }
}

function described(
  levels: Level[],
  open: { start: number; word: string } | null,
  at: number,
): Place {
  const top = levels.at(-1);
  const isKey = top?.object === true && !top.valueNext;
  const path = levels.map((level) => (level.object ? (level.key ?? "") : level.index));
  const inString = open?.word.startsWith('"') ?? false;
  return {
    path: isKey ? path.slice(0, -1) : path,
    isKey,
    inString,
    from: open ? open.start + (inString ? 1 : 0) : at,
    typed: open !== null,
    present: top?.keys ?? [],
  };
}
