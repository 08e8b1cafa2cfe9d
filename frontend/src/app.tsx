/** The page: its frame, and in it the screen that was chosen. */
import type { ComponentType } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { Frame, SECTIONS, type SectionId } from "./frame/frame";
import { Palette } from "./frame/palette";
import { keepToken, keptToken, type Theme } from "./model/kept";
import { chooseTheme, theme } from "./model/preferences";
import { connection, overview, start } from "./live";
import { currentRoute, href, useRoute, type Route } from "./router";
import { OverviewScreen } from "./screens/overview";
import { useStore } from "./store";
import { IconButton, useInSight } from "./ui/controls";
import { Logo, type IconName } from "./ui/icon";
import { lazy } from "./ui/lazy";
import { Empty } from "./ui/states";

type Screen = ComponentType<{ route: Route }> & { load?: () => Promise<unknown> };

// The first screen comes with the page; each other one when it is first opened.
const SCREENS: Record<SectionId, Screen> = {
  "": OverviewScreen,
  explore: lazy(async () => (await import("./screens/explore")).Explore),
  traffic: lazy(async () => (await import("./screens/traffic")).Traffic),
  tasks: lazy(async () => (await import("./screens/tasks")).Tasks),
  health: lazy(async () => (await import("./screens/health")).Health),
  history: lazy(async () => (await import("./screens/history")).History),
  context: lazy(async () => (await import("./screens/context")).Context),
  registry: lazy(async () => (await import("./screens/registry")).Registry),
  connect: lazy(async () => (await import("./screens/connect")).Connect),
  settings: lazy(async () => (await import("./screens/settings")).Settings),
};

const GOALS = SECTIONS.map(({ id, label, icon }) => ({
  label,
  icon,
  aside: "screen",
  to: href(id),
}));

/** Begin to read; done when the chosen screen has what it shows, or knows why not. */
export async function ready(): Promise<void> {
  if (keptToken() === null) return;
  const section = sectionOf(currentRoute());
  await Promise.allSettled([start(), section && SCREENS[section.id].load?.()]);
}

const sectionOf = (route: Route) => SECTIONS.find((one) => one.id === route.section);

export function App() {
  const link = useStore(connection);
  return keptToken() === null || link === "refused" ? <Locked /> : <Page />;
}

function Page() {
  const route = useRoute();
  const link = useStore(connection);
  const { data } = useStore(overview);
  const section = sectionOf(route);
  const Screen = section && SCREENS[section.id];
  const sections = useRef<HTMLElement>(null);
  useInSight(sections, route.section);
  const title = data?.server.title ?? data?.server.name;
  useEffect(() => {
    document.title = `${section?.label ?? "Not found"} · ${title ?? "Toolyard"}`;
  }, [section, title]);
  return (
    <Frame
      title={title}
      current={route.section}
      link={link}
      list={sections}
      palette={<Palette screens={GOALS} />}
      theme={<ThemeButton />}
    >
      {Screen ? (
        <Screen route={route} />
      ) : (
        <Empty icon="search" title="There is no such screen">
          <a href={href("")}>Go to the overview</a>
        </Empty>
      )}
    </Frame>
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

/** Without the token there is nothing to see: say where it is. */
function Locked() {
  const [text, setText] = useState("");
  const submit = (event: Event) => {
    event.preventDefault();
    keepToken(text.replace(/^.*#token=/, "").trim());
    location.hash = "#/";
    location.reload();
  };
  return (
    <main class="locked">
      <Logo size={40} />
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
