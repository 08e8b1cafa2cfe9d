/** What this browser keeps for the page: the token for this window, the theme for all of them. */

export type Theme = "system" | "light" | "dark";

const TOKEN = "toolyard-token";
const THEME = "toolyard-theme";

export function keptToken(): string | null {
  return sessionStorage.getItem(TOKEN);
}

export function keepToken(token: string): void {
  sessionStorage.setItem(TOKEN, token);
}

/** Take the token out of the address, so that it is neither copied nor bookmarked by accident. */
export function adoptToken(): void {
  const found = /^#token=([\w-]+)/.exec(location.hash);
  if (!found?.[1]) return;
  keepToken(found[1]);
  history.replaceState(null, "", "#/");
}

export function keptTheme(): Theme {
  const kept = localStorage.getItem(THEME);
  return kept === "light" || kept === "dark" ? kept : "system";
}

export function keepTheme(theme: Theme): void {
  if (theme === "system") localStorage.removeItem(THEME);
  else localStorage.setItem(THEME, theme);
}

export function applyTheme(theme: Theme): void {
  if (theme === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
}
