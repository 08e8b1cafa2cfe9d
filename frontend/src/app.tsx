/** The frame of the page: sections on the side, the chosen one beside them. */
import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { adoptToken, hasToken, useToken } from "./api";
import { Palette } from "./frame/palette";
import { applyTheme, chooseTheme, theme, type Theme } from "./model/preferences";
import { connection, overview, start } from "./live";
import { href, useRoute, type Route } from "./router";
import { OverviewScreen } from "./screens/overview";
import { useStore } from "./store";
import { IconButton, useInSight } from "./ui/controls";
import { Icon, type IconName } from "./ui/icon";
import { lazy } from "./ui/lazy";
import { Empty } from "./ui/states";
import { Text } from "./ui/text";

// The first screen comes with the page; each other one when it is first opened.
const Connect = lazy(async () => (await import("./screens/connect")).Connect);
const Context = lazy(async () => (await import("./screens/context")).Context);
const Explore = lazy(async () => (await import("./screens/explore")).Explore);
const Health = lazy(async () => (await import("./screens/health")).Health);
const History = lazy(async () => (await import("./screens/history")).History);
const Registry = lazy(async () => (await import("./screens/registry")).Registry);
const Settings = lazy(async () => (await import("./screens/settings")).Settings);
const Tasks = lazy(async () => (await import("./screens/tasks")).Tasks);
const Traffic = lazy(async () => (await import("./screens/traffic")).Traffic);

interface Section {
  id: string;
  label: string;
  icon: IconName;
  screen: (route: Route) => ComponentChildren;
}

const SECTIONS: Section[] = [
  { id: "", label: "Overview", icon: "overview", screen: () => <OverviewScreen /> },
  {
    id: "explore",
    label: "Explore",
    icon: "explore",
    screen: (route) => <Explore route={route} />,
  },
  {
    id: "traffic",
    label: "Traffic",
    icon: "traffic",
    screen: (route) => <Traffic route={route} />,
  },
  { id: "tasks", label: "Tasks", icon: "play", screen: (route) => <Tasks route={route} /> },
  { id: "health", label: "Health", icon: "graph", screen: () => <Health /> },
  { id: "history", label: "History", icon: "history", screen: () => <History /> },
  { id: "context", label: "Context", icon: "half", screen: () => <Context /> },
  { id: "registry", label: "Registry", icon: "registry", screen: () => <Registry /> },
  { id: "connect", label: "Connect", icon: "connect", screen: () => <Connect /> },
  { id: "settings", label: "Settings", icon: "settings", screen: () => <Settings /> },
];

const SCREENS = SECTIONS.map(({ id, label, icon }) => ({
  label,
  icon,
  aside: "screen",
  to: href(id),
}));

adoptToken();
applyTheme();
// What the page shows is on its way while the frame is drawn.
if (hasToken()) start();

export function App() {
  const link = useStore(connection);
  return !hasToken() || link === "refused" ? <Locked /> : <Frame />;
}

function Frame() {
  const route = useRoute();
  const link = useStore(connection);
  const { data } = useStore(overview);
  const section = SECTIONS.find((one) => one.id === route.section);
  const sections = useRef<HTMLElement>(null);
  useInSight(sections, route.section);
  const title = data?.server.title ?? data?.server.name ?? "Toolyard";
  useEffect(() => {
    document.title = `${section?.label ?? "Not found"} · ${title}`;
  }, [section, title]);
  return (
    <div class="frame">
      <a class="skip" href="#main" onClick={focusMain}>
        Skip to the content
      </a>
      <header class="side">
        <a class="brand" href={href("")}>
          <img src="/icon.svg" alt="" width="22" height="22" />
          <span class="brand-name">
            <Text of={title} />
          </span>
        </a>
        <Palette screens={SCREENS} />
        <nav aria-label="Sections" ref={sections}>
          {SECTIONS.map((one) => (
            <a
              key={one.id}
              href={href(one.id)}
              {...(one === section ? { "aria-current": "page" as const } : {})}
            >
              <Icon name={one.icon} />
              <span>{one.label}</span>
            </a>
          ))}
        </nav>
        <p class="link-state" role="status">
          <span class={`dot ${link === "open" ? "good" : "warn"}`} />
          {link === "open" ? "Live" : link === "lost" ? "Reconnecting…" : "Connecting…"}
          <ThemeButton />
        </p>
      </header>
      <main id="main" tabIndex={-1}>
        {section ? (
          section.screen(route)
        ) : (
          <Empty icon="search" title="There is no such screen">
            <a href={href("")}>Go to the overview</a>
          </Empty>
        )}
      </main>
    </div>
  );
}

const NEXT: Record<Theme, Theme> = { system: "light", light: "dark", dark: "system" };
const THEME_ICONS: Record<Theme, IconName> = { system: "half", light: "sun", dark: "moon" };

function ThemeButton() {
  const chosen = useStore(theme);
  return (
    <IconButton
      icon={THEME_ICONS[chosen]}
      label={`Theme: ${chosen}. Change to ${NEXT[chosen]}`}
      act={() => chooseTheme(NEXT[chosen])}
    />
  );
}

function focusMain(event: Event): void {
  event.preventDefault();
  document.getElementById("main")?.focus();
}

/** Without the token there is nothing to see: say where it is. */
function Locked() {
  const [text, setText] = useState("");
  const submit = (event: Event) => {
    event.preventDefault();
    useToken(text.replace(/^.*#token=/, "").trim());
    location.hash = "#/";
    location.reload();
  };
  return (
    <main class="locked">
      <img src="/icon.svg" alt="" width="40" height="40" />
      <h1>Open the link from the terminal</h1>
      <p>
        The server prints a link with a token when it starts. Each start has its own; a token from
        before does not work any more.
      </p>
      <form onSubmit={submit}>
        <label htmlFor="token">Or paste the link or the token here</label>
        <div class="inline">
          <input
            id="token"
            type="password"
            autocomplete="off"
            value={text}
            onInput={(event) => setText(event.currentTarget.value)}
          />
          <button type="submit" class="button primary" disabled={!text.trim()}>
            Open
          </button>
        </div>
      </form>
    </main>
  );
}
