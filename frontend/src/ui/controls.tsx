/** Small controls that many screens use. */
import type { ComponentChildren, RefObject } from "preact";
import { useId, useLayoutEffect, useRef, useState } from "preact/hooks";
import { thousands } from "../format";
import { Icon, type IconName } from "./icon";
import { Text } from "./text";

export function Badge({
  tone = "plain",
  title,
  children,
}: {
  tone?: "plain" | "good" | "bad" | "warn" | "accent";
  title?: string;
  children: ComponentChildren;
}) {
  return (
    <span class={`badge ${tone}`} {...(title ? { title } : {})}>
      {children}
    </span>
  );
}

export function CopyButton({ text, label = "Copy" }: { text: () => string; label?: string }) {
  const [done, setDone] = useState(false);
  const copy = async () => {
    await copyText(text());
    setDone(true);
    setTimeout(() => setDone(false), 1500);
  };
  return (
    <button type="button" class="button small" onClick={copy} title={label}>
      <Icon name={done ? "check" : "copy"} />
      <span aria-live="polite">{done ? "Copied" : label}</span>
    </button>
  );
}

export async function copyText(text: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    // Without a secure context there is only the old way.
    const area = document.createElement("textarea");
    area.value = text;
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
}

export function Snippet({ title, code }: { title?: string; code: string }) {
  return (
    <figure class="snippet">
      <figcaption>
        <span>{title}</span>
        <CopyButton text={() => code} />
      </figcaption>
      <pre class="code" tabIndex={0}>
        <Text of={code} />
      </pre>
    </figure>
  );
}

export interface Tab<T extends string> {
  id: T;
  label: string;
  count?: number;
}

/** In a row that is wider than the screen, what was chosen is in sight.
 *
 * Measured with the frame that paints it: sooner, the page would be laid out once more for this.
 */
export function useInSight(row: RefObject<HTMLElement | null>, chosen: string): void {
  useLayoutEffect(() => {
    const frame = requestAnimationFrame(() => bringIntoSight(row.current));
    return () => cancelAnimationFrame(frame);
  }, [chosen]);
}

function bringIntoSight(box: HTMLElement | null): void {
  const shown = box?.querySelector<HTMLElement>("[aria-selected=true], [aria-current]");
  if (!box || !shown || box.scrollWidth <= box.clientWidth) return;
  const middle = shown.offsetLeft - box.offsetLeft + shown.offsetWidth / 2;
  box.scrollLeft = middle - box.clientWidth / 2;
}

/** A row of tabs: one tab stop, arrows move between them. */
export function Tabs<T extends string>({
  tabs,
  chosen,
  choose,
  label,
}: {
  tabs: Tab<T>[];
  chosen: T;
  choose: (id: T) => void;
  label: string;
}) {
  const row = useRef<HTMLDivElement>(null);
  useInSight(row, chosen);
  const move = (event: KeyboardEvent) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    const index = tabs.findIndex((tab) => tab.id === chosen);
    const next = (index + step + tabs.length) % tabs.length;
    choose(tabs[next]!.id);
    row.current?.querySelectorAll("button")[next]?.focus();
  };
  return (
    <div class="tabs" role="tablist" aria-label={label} ref={row} onKeyDown={move}>
      {tabs.map((tab) => (
        <button
          type="button"
          key={tab.id}
          role="tab"
          aria-selected={tab.id === chosen}
          tabIndex={tab.id === chosen ? 0 : -1}
          onClick={() => choose(tab.id)}
        >
          {tab.label}
          {tab.count !== undefined && <span class="count">{thousands(tab.count)}</span>}
        </button>
      ))}
    </div>
  );
}

export function SearchField({
  value,
  change,
  label,
  hotkey = false,
  keys,
  points,
}: {
  value: string;
  change: (text: string) => void;
  label: string;
  hotkey?: boolean;
  /** What else keys do here: arrows and Enter, in a list of what was found. */
  keys?: (event: KeyboardEvent) => void;
  /** The id of the row that those keys are at. */
  points?: string | undefined;
}) {
  const field = useRef<HTMLInputElement>(null);
  // As soon as the field is there: whoever sees it may press the key at once.
  useLayoutEffect(() => {
    if (!hotkey) return;
    const focus = (event: KeyboardEvent) => {
      const target = event.target as HTMLElement;
      const typing = /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName) || target.isContentEditable;
      if (event.key !== "/" || typing || event.ctrlKey || event.metaKey) return;
      event.preventDefault();
      field.current?.focus();
    };
    addEventListener("keydown", focus);
    return () => removeEventListener("keydown", focus);
  }, [hotkey]);
  return (
    <div class="search">
      <Icon name="search" />
      <input
        ref={field}
        type="search"
        value={value}
        placeholder={label}
        aria-label={label}
        autocomplete="off"
        spellcheck={false}
        onInput={(event) => change(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === "Escape" && value) change("");
          else keys?.(event);
        }}
        {...(points ? { "aria-activedescendant": points } : {})}
      />
      {hotkey && !value && <kbd>/</kbd>}
    </div>
  );
}

/** A section that can be folded away. */
export function Fold({
  title,
  open = false,
  aside,
  children,
}: {
  title: ComponentChildren;
  open?: boolean;
  aside?: ComponentChildren;
  children: () => ComponentChildren;
}) {
  const [unfolded, setUnfolded] = useState(open);
  const id = useId();
  return (
    <section class="fold">
      <h3>
        <button
          type="button"
          aria-expanded={unfolded}
          aria-controls={id}
          onClick={() => setUnfolded(!unfolded)}
        >
          <Icon name={unfolded ? "down" : "right"} />
          <span>{title}</span>
        </button>
        {aside && <span class="aside">{aside}</span>}
      </h3>
      <div id={id}>{unfolded && children()}</div>
    </section>
  );
}

export function IconButton({
  icon,
  label,
  act,
  pressed,
}: {
  icon: IconName;
  label: string;
  act: () => void;
  pressed?: boolean;
}) {
  return (
    <button
      type="button"
      class="icon-button"
      aria-label={label}
      title={label}
      onClick={act}
      {...(pressed === undefined ? {} : { "aria-pressed": pressed })}
    >
      <Icon name={icon} />
    </button>
  );
}
