/** The frame of the page: sections on the side, the chosen one beside them.
 *
 * It keeps nothing and asks for nothing, because the build draws it into index.html as well.
 */
import type { ComponentChildren, Ref } from "preact";
import { Icon, Logo, type IconName } from "../ui/icon";
import { Text } from "../ui/text";

export const SECTIONS = [
  { id: "", label: "Overview", icon: "overview" },
  { id: "explore", label: "Explore", icon: "explore" },
  { id: "traffic", label: "Traffic", icon: "traffic" },
  { id: "tasks", label: "Tasks", icon: "play" },
  { id: "health", label: "Health", icon: "graph" },
  { id: "history", label: "History", icon: "history" },
  { id: "context", label: "Context", icon: "half" },
  { id: "registry", label: "Registry", icon: "registry" },
  { id: "connect", label: "Connect", icon: "connect" },
  { id: "settings", label: "Settings", icon: "settings" },
] as const satisfies { id: string; label: string; icon: IconName }[];

export type SectionId = (typeof SECTIONS)[number]["id"];

const LINK_WORDS = {
  open: "Live",
  lost: "Reconnecting…",
  connecting: "Connecting…",
  refused: "Connecting…",
};

export function Frame({
  title = "Toolyard",
  current,
  link = "connecting",
  list,
  palette,
  theme,
  early = false,
  children,
}: {
  title?: string | undefined;
  current?: string;
  link?: keyof typeof LINK_WORDS;
  list?: Ref<HTMLElement>;
  palette: ComponentChildren;
  theme?: ComponentChildren;
  /** Not shown before it is known that there is a token. */
  early?: boolean;
  children?: ComponentChildren;
}) {
  return (
    <div class={early ? "frame early" : "frame"}>
      <a class="skip" href="#main" onClick={focusMain}>
        Skip to the content
      </a>
      <header class="side">
        <a class="brand" href="#/">
          <Logo size={22} />
          <span class="brand-name">
            <Text of={title} />
          </span>
        </a>
        {palette}
        <nav aria-label="Sections" {...(list ? { ref: list } : {})}>
          {SECTIONS.map((one) => (
            <a
              key={one.id}
              href={`#/${one.id}`}
              {...(one.id === current ? { "aria-current": "page" as const } : {})}
            >
              <Icon name={one.icon} />
              <span>{one.label}</span>
            </a>
          ))}
        </nav>
        <p class="link-state" role="status">
          <span class={`dot ${link === "open" ? "good" : "warn"}`} />
          {LINK_WORDS[link]}
          {theme}
        </p>
      </header>
      <main id="main" tabIndex={-1}>
        {children}
      </main>
    </div>
  );
}

export function PaletteButton({ open }: { open?: () => void }) {
  return (
    <button type="button" class="palette-button" {...(open ? { onClick: open } : {})}>
      <Icon name="search" /> <span>Go to…</span> <kbd>Ctrl K</kbd>
    </button>
  );
}

function focusMain(event: Event): void {
  event.preventDefault();
  document.getElementById("main")?.focus();
}
