/**
 * A page of MCP Apps, from a server that nobody vouches for, in a frame without a way out.
 *
 * The frame's document is ours: it comes with a policy that allows no network, in an origin of its
 * own, and writes into itself what it is given here. Messages are the only way between the two.
 */
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { reply } from "../model/host";
import type { JsonObject } from "../types";
import "./app.css";

const FRAME = "/app.html";

export interface AppProps {
  html: string;
  /** The call that it is to show. */
  input?: JsonObject;
  result?: JsonObject;
}

export function App({ html, ...call }: AppProps) {
  const frame = useRef<HTMLIFrameElement>(null);
  const [height, setHeight] = useState(320);
  useLayoutEffect(() => {
    let given = false;
    const hear = ({ source, data }: MessageEvent) => {
      const inner = frame.current?.contentWindow;
      if (!inner || source !== inner) return;
      // It has an origin that no address names: whoever is in the frame may read this.
      const tell = (message: unknown) => inner.postMessage(message, "*");
      if (data === "ready" && !given) {
        given = true;
        tell({ html });
        return;
      }
      const said = reply(data, { theme: currentTheme(), ...call });
      said.messages.forEach(tell);
      if (said.height) setHeight(said.height);
    };
    addEventListener("message", hear);
    return () => removeEventListener("message", hear);
  }, []);
  return (
    <div class="app">
      <iframe
        ref={frame}
        src={FRAME}
        title="App"
        sandbox="allow-scripts allow-forms"
        referrerpolicy="no-referrer"
        height={height}
      />
      <p class="hint">
        Drawn by the server in a closed frame: it loads nothing, calls nothing and opens nothing.
      </p>
    </div>
  );
}

function currentTheme(): "light" | "dark" {
  const scheme = getComputedStyle(document.documentElement).colorScheme;
  if (scheme === "light" || scheme === "dark") return scheme;
  return matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
}
