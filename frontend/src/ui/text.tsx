/** Text from elsewhere. Only ever text nodes; characters that deceive the eye are spelled out. */
import { useState } from "preact/hooks";
import { thousands } from "../format";

// Direction marks, zero-width and control characters, tags, line separators; and what is piled
// upon four marks of one letter, more than any script needs: it would reach into other lines.
const DECEIVING =
  /([\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb\u{e0000}-\u{e0fff}])|\p{M}(?<=\p{M}{5})\p{M}*/gu;

/** No name, title or cell is longer than this; `whole` is for those who cut by themselves. */
const MOST = 2_000;

export function Text({ of, whole = false }: { of: string; whole?: boolean }) {
  if (!whole && of.length > MOST)
    return <Text of={`${of.slice(0, MOST)}… (${of.length - MOST} more characters)`} whole />;
  DECEIVING.lastIndex = 0;
  if (!DECEIVING.test(of)) return <span class="text">{of}</span>;
  const parts: preact.ComponentChildren[] = [];
  let end = 0;
  DECEIVING.lastIndex = 0;
  for (const found of of.matchAll(DECEIVING)) {
    const Spelled = found[1] === undefined ? Pile : Mark;
    parts.push(of.slice(end, found.index), <Spelled key={found.index} of={found[0]} />);
    end = found.index + found[0].length;
    // An element each for so many; for what is left, one character each.
    if (parts.length > 2000) break;
  }
  return (
    <span class="text">
      {parts}
      {plain(of.slice(end))}
    </span>
  );
}

/** A character for each of them, where nothing can be spelled out. */
export function plain(of: string): string {
  return of.replace(DECEIVING, "\ufffd");
}

function Mark({ of }: { of: string }) {
  const code = (of.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0");
  return (
    <span class="mark" title={`The invisible character U+${code}`}>
      U+{code}
    </span>
  );
}

function Pile({ of }: { of: string }) {
  const count = thousands([...of].length);
  return (
    <span class="mark" title="Combining characters, each upon the one before">
      {count} more {count === "1" ? "mark" : "marks"}
    </span>
  );
}

const SHOWN_AT_FIRST = 4_000;
const MOST_SHOWN = 200_000;

/** A text of any length: the start of it, and more when it is asked for. */
export function LongText({ of, code = false }: { of: string; code?: boolean }) {
  return (
    <Cut of={of} first={SHOWN_AT_FIRST}>
      {(text) => (
        <pre class={code ? "code" : "prose"} tabIndex={0}>
          <Text of={text} whole />
        </pre>
      )}
    </Cut>
  );
}

export function Cut({
  of,
  first,
  children,
}: {
  of: string;
  first: number;
  children: (text: string) => preact.ComponentChildren;
}) {
  const [all, setAll] = useState(false);
  const most = all ? MOST_SHOWN : first;
  const cut = of.length > most;
  return (
    <div class="long">
      {children(cut ? of.slice(0, most) : of)}
      {cut && (
        <p class="hint">
          {thousands(most)} of {thousands(of.length)} characters.{" "}
          {!all && (
            <button type="button" class="link" onClick={() => setAll(true)}>
              Show more
            </button>
          )}
        </p>
      )}
    </div>
  );
}

/** A link only where it leads to the web; anything else is text. */
export function WebLink({ to, children }: { to: string; children: preact.ComponentChildren }) {
  return isWebUrl(to) ? (
    <a href={to} target="_blank" rel="noopener noreferrer">
      {children}
    </a>
  ) : (
    <>{children}</>
  );
}

export function isWebUrl(text: string): boolean {
  try {
    return ["http:", "https:"].includes(new URL(text).protocol);
  } catch {
    return false;
  }
}
