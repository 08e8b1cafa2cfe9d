/** Where in the page we are: #/section/part/part?key=value */
import { useLayoutEffect, useState } from "preact/hooks";

export interface Route {
  section: string;
  parts: string[];
  query: URLSearchParams;
}

export function currentRoute(): Route {
  const [path = "", query = ""] = location.hash.replace(/^#\/?/, "").split("?");
  const [section = "", ...parts] = path.split("/").map(decoded);
  return { section, parts, query: new URLSearchParams(query) };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

export function href(
  section: string,
  parts: string[] = [],
  query?: Record<string, string>,
): string {
  const path = [section, ...parts].map(encodeURIComponent).join("/");
  const search = new URLSearchParams(query).toString();
  return `#/${path}${search && `?${search}`}`;
}

export function go(to: string): void {
  location.hash = to;
}

export function useRoute(): Route {
  const [route, setRoute] = useState(currentRoute);
  // With the page itself: after the next frame, a link that was followed at once would be missed.
  useLayoutEffect(() => {
    const moved = () => setRoute(currentRoute());
    addEventListener("hashchange", moved);
    return () => removeEventListener("hashchange", moved);
  }, []);
  return route;
}
