/** What a model has to read: what each view costs, and what its search would find. */
import { useState } from "preact/hooks";
import { get } from "../api";
import { count, tokens } from "../format";
import { edition } from "../live";
import { pretty } from "../json";
import { href } from "../router";
import { useRemote, useStore } from "../store";
import type { ContextView, ViewCost, ViewName } from "../types";
import { Badge, SearchField, Snippet } from "../ui/controls";
import { Empty, Shown } from "../ui/states";
import { Text } from "../ui/text";
import "./context.css";

const ABOUT: Record<ViewName, string> = {
  full: "Every tool with its whole definition.",
  index: "Four tools that find and call the others, and the names of all.",
  search: "Those four tools alone; the same bytes whatever the registry holds.",
};

export function Context() {
  const round = useStore(edition);
  const [view, setView] = useState<ViewName>("search");
  const state = useRemote<ContextView>(
    (signal) => get(`context?view=${view}`, signal),
    [view],
    round,
  );
  return (
    <div class="screen context">
      <header class="screen-head">
        <div>
          <h1>Context</h1>
          <p class="lead">
            A model reads every listed tool on every turn. A view lists fewer, and lets the others
            be found. Sizes are estimated.
          </p>
        </div>
      </header>
      <Shown of={state} retry={state.reload}>
        {(data) => <Views costs={data.views} chosen={view} choose={setView} />}
      </Shown>
      <Search />
      <Shown of={state} retry={state.reload}>
        {(data) => <Listed data={data} />}
      </Shown>
    </div>
  );
}

function Listed({ data }: { data: ContextView }) {
  return (
    <section aria-label="What is listed">
      <h2>What a model reads in view {data.view}</h2>
      {data.view === "full" ? (
        <p class="hint">
          The definitions of all tools, as <a href={href("explore")}>Explore</a> shows them.
        </p>
      ) : (
        <Snippet title={`tools/list in view ${data.view}`} code={pretty(data.tools)} />
      )}
    </section>
  );
}

function Search() {
  const round = useStore(edition);
  const [query, setQuery] = useState("");
  const state = useRemote<ContextView>(
    (signal) => get(`context?view=search&query=${encodeURIComponent(query)}`, signal),
    [query],
    round,
  );
  return (
    <section aria-label="Search">
      <h2>What would a search find?</h2>
      <SearchField value={query} change={setQuery} label="As a model would ask" />
      {query.trim() && (
        <Shown of={state} retry={state.reload}>
          {(data) => data.search && <Found search={data.search} />}
        </Shown>
      )}
    </section>
  );
}

function Views({
  costs,
  chosen,
  choose,
}: {
  costs: ViewCost[];
  chosen: ViewName;
  choose: (view: ViewName) => void;
}) {
  const most = Math.max(...costs.map((cost) => cost.tokens), 1);
  return (
    <fieldset class="views">
      <legend>View</legend>
      {costs.map((cost) => (
        <label key={cost.view} class={cost.view === chosen ? "view chosen" : "view"}>
          <input
            type="radio"
            name="view"
            value={cost.view}
            checked={cost.view === chosen}
            onChange={() => choose(cost.view)}
          />
          <span class="view-name">{cost.view}</span>
          <span class="number">{tokens(cost.tokens)} tokens</span>
          <meter min={0} max={most} value={cost.tokens} aria-label={`${cost.tokens} tokens`} />
          <span class="quiet">
            {count(cost.tools)} tools listed{cost.view === "full" ? "" : `, ${saved(cost)}`}
          </span>
          <span class="hint">{ABOUT[cost.view]}</span>
          <code>/mcp?view={cost.view}</code>
        </label>
      ))}
    </fieldset>
  );
}

function saved(cost: ViewCost): string {
  const share = Math.round(Math.abs(cost.saved) * 100);
  return cost.saved >= 0 ? `${share} % saved` : `${share} % more`;
}

function Found({ search }: { search: NonNullable<ContextView["search"]> }) {
  return (
    <>
      <p class="quiet" role="status">
        {count(search.tools.length)} of {count(search.total)} tools; the answer for a model, five of
        them at most, takes {tokens(search.tokens)} tokens.
      </p>
      {search.unmatched.length > 0 && (
        <p class="unmatched">
          In no tool:{" "}
          {search.unmatched.map((word) => (
            <Badge key={word} tone="warn">
              <Text of={word} />
            </Badge>
          ))}
        </p>
      )}
      {search.tools.length === 0 ? (
        <Empty icon="search" title="No tool matches" />
      ) : (
        <table class="found">
          <thead>
            <tr>
              <th scope="col">Tool</th>
              <th scope="col">Server</th>
              <th scope="col">Called with</th>
              <th scope="col" class="number">
                Score
              </th>
              <th scope="col" class="number">
                Tokens
              </th>
            </tr>
          </thead>
          <tbody>
            {search.tools.map((tool) => (
              <tr key={tool.name}>
                <td>
                  <a href={href("explore", ["tools", tool.name])}>
                    <Text of={tool.name} />
                  </a>
                </td>
                <td>
                  <Text of={tool.server} />
                </td>
                <td>
                  <code>{tool.callWith}</code>
                </td>
                <td class="number">{tool.score.toFixed(2)}</td>
                <td class="number">{tokens(tool.tokens)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </>
  );
}
