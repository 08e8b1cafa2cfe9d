/** What this browser remembers: how the page looks, and which folders tools may work in. */
import { useState } from "preact/hooks";
import type { Theme } from "../model/kept";
import { chooseTheme, keepRoots, linesOf, roots, theme } from "../model/preferences";
import { useStore } from "../store";
import { Choice } from "../ui/value";
import "./settings.css";

const THEMES: Theme[] = ["system", "light", "dark"];

export function Settings() {
  return (
    <div class="screen">
      <header class="screen-head">
        <div>
          <h1>Settings</h1>
          <p class="lead">Kept in this browser alone.</p>
        </div>
      </header>
      <section class="setting">
        <h2>Colours</h2>
        <Choice label="Colours" ways={THEMES} way={useStore(theme)} choose={chooseTheme} />
      </section>
      <RootsSetting />
    </div>
  );
}

function RootsSetting() {
  const kept = useStore(roots);
  const [text, setText] = useState(kept?.join("\n") ?? "");
  return (
    <section class="setting">
      <h2>
        <label htmlFor="setting-roots">Folders that tools may work in</label>
      </h2>
      <p class="hint">
        Some tools ask for them (MCP calls them roots). One a line; with none, tools are told that
        there are none. {kept === null && "Until you say so, the page asks when a tool does."}
      </p>
      <textarea
        id="setting-roots"
        rows={3}
        value={text}
        placeholder="/home/me/project"
        spellcheck={false}
        onInput={(event) => {
          setText(event.currentTarget.value);
          keepRoots(linesOf(event.currentTarget.value));
        }}
      />
      <p>
        <button
          type="button"
          class="button small"
          disabled={kept === null}
          onClick={() => {
            setText("");
            keepRoots(null);
          }}
        >
          Ask me each time
        </button>
      </p>
    </section>
  );
}
