/** Everything that can be gone to, by its name: Ctrl+K opens it. */
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { catalog } from "../live";
import { index, search } from "../model/outline";
import { go, href } from "../router";
import { useStore } from "../store";
import { Icon, type IconName } from "../ui/icon";
import { Text } from "../ui/text";
import { PaletteButton } from "./frame";
import "./palette.css";

export interface Goal {
  label: string;
  aside: string;
  icon: IconName;
  to: string;
}

const MOST = 60;

const ICONS: Record<string, IconName> = {
  tools: "tool",
  resources: "resource",
  templates: "template",
  prompts: "prompt",
};

export function Palette({ screens }: { screens: Goal[] }) {
  const [open, setOpen] = useState(false);
  useLayoutEffect(() => {
    const pressed = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() !== "k" || !(event.ctrlKey || event.metaKey)) return;
      event.preventDefault();
      setOpen(true);
    };
    addEventListener("keydown", pressed);
    return () => removeEventListener("keydown", pressed);
  }, []);
  return (
    <>
      <PaletteButton open={() => setOpen(true)} />
      {open && <Box screens={screens} close={() => setOpen(false)} />}
    </>
  );
}

function Box({ screens, close }: { screens: Goal[]; close: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [words, setWords] = useState("");
  const [at, setAt] = useState(0);
  const goals = useGoals(screens, words);
  useLayoutEffect(() => dialog.current?.showModal(), []);
  useEffect(() => {
    addEventListener("hashchange", close);
    return () => removeEventListener("hashchange", close);
  }, []);
  useEffect(() => {
    document.getElementById(`goal-${at}`)?.scrollIntoView({ block: "nearest" });
  }, [at]);
  const visit = (goal: Goal | undefined) => {
    if (!goal) return;
    close();
    go(goal.to);
  };
  const move = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) setAt((at + step + goals.length) % Math.max(goals.length, 1));
    else if (event.key === "Enter") visit(goals[at]);
    // By itself the field would be emptied first.
    else if (event.key === "Escape") close();
    else return;
    event.preventDefault();
  };
  return (
    <dialog
      class="palette"
      ref={dialog}
      aria-label="Go to"
      onClose={close}
      {...{ closedby: "any" }}
    >
      <input
        type="search"
        value={words}
        placeholder="A screen, a tool, a resource, a prompt"
        aria-label="Go to"
        aria-controls="goals"
        aria-activedescendant={`goal-${at}`}
        autocomplete="off"
        spellcheck={false}
        onKeyDown={move}
        onInput={(event) => {
          setWords(event.currentTarget.value);
          setAt(0);
        }}
      />
      <div id="goals" class="goals" role="listbox" aria-label="Matches">
        {goals.map((goal, place) => (
          <button
            type="button"
            key={goal.to}
            id={`goal-${place}`}
            role="option"
            tabIndex={-1}
            aria-selected={place === at}
            onClick={() => visit(goal)}
          >
            <Icon name={goal.icon} />
            <span class="goal-name">
              <Text of={goal.label} />
            </span>
            <span class="quiet">
              <Text of={goal.aside} />
            </span>
          </button>
        ))}
        {!goals.length && <p class="hint">Nothing is called that.</p>}
      </div>
    </dialog>
  );
}

/** What is searched is made when the box is opened, and again when the catalog changes. */
function useGoals(screens: Goal[], words: string): Goal[] {
  const listing = useStore(catalog).data;
  const everything = useMemo(() => (listing ? index(listing) : []), [listing]);
  return useMemo(() => {
    const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
    const near = screens.filter((goal) =>
      wanted.every((word) => goal.label.toLowerCase().includes(word)),
    );
    const found = search(everything, words, ["tools", "resources", "templates", "prompts"], "");
    const named = [...found].sort((a, b) => rank(a.id, words) - rank(b.id, words));
    const entries = named.slice(0, MOST).map((one) => ({
      label: one.entry.name || one.id,
      aside: one.entry.owner,
      icon: ICONS[one.kind]!,
      to: href("explore", [one.kind, one.id]),
    }));
    return [...near, ...entries];
  }, [screens, everything, words]);
}

/** A name that begins with what was typed comes first, then one that has it, then descriptions. */
function rank(name: string, words: string): number {
  const place = name.toLowerCase().indexOf(words.trim().toLowerCase());
  return place < 0 ? 2 : place > 0 ? 1 : 0;
}
