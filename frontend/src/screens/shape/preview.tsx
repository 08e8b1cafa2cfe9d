/** What a change would do: what clients see then, what they get, what it costs, and the file. */
import { useState } from "preact/hooks";
import { tokens, tokensIn } from "../../format";
import { compact, pretty } from "../../json";
import type { JsonObject, RegistryFile } from "../../types";
import { Tabs } from "../../ui/controls";
import { ResultView } from "../../ui/content";
import { DiffView } from "../../ui/diff";
import { Icon } from "../../ui/icon";
import { Loading } from "../../ui/states";
import { Text } from "../../ui/text";
import { ValueView } from "../../ui/value";
import { objections, type Draft } from "./draft";

type Part = "definition" | "result" | "file";

export interface Before {
  definition: JsonObject;
  /** Whose definition that is. */
  called: string;
  /** What clients see as the file is now; null where there is no such tool yet. */
  now: JsonObject | null;
  /** The last real result of the source, and what it costs. */
  result?: { raw: JsonObject; tokens: number };
}

export function Preview({
  draft,
  before,
  name,
  file,
}: {
  draft: Draft;
  before: Before;
  name: string;
  file: RegistryFile;
}) {
  const [part, setPart] = useState<Part>("definition");
  const { checked, refused } = draft;
  if (!checked && !refused) return <Loading lines={6} />;
  const change = checked?.changes.find((one) => one.name === name);
  const after = change ? change.after : before.now;
  const result = checked?.sample?.result;
  return (
    <div class="shape-preview" aria-busy={!draft.current}>
      <Costs before={before} after={after} {...(result ? { result } : {})} />
      <Troubles messages={[...objections(draft, name), ...(checked?.warnings ?? [])]} />
      <Tabs<Part>
        label="Preview"
        tabs={[
          { id: "definition", label: "What clients see" },
          { id: "result", label: "What they get" },
          { id: "file", label: "The file" },
        ]}
        chosen={part}
        choose={setPart}
      />
      {part === "definition" &&
        (after ? (
          <DiffView
            leftTitle={before.called}
            rightTitle="What clients will see"
            left={pretty(before.definition)}
            right={pretty(after)}
            equal="Both are the same."
          />
        ) : (
          <p class="hint">Clients do not see it.</p>
        ))}
      {part === "result" && <ResultPreview draft={draft} before={before} />}
      {part === "file" && checked?.sections && (
        <DiffView
          leftTitle="The file now"
          rightTitle="The file then"
          left={file.sections?.tools ?? ""}
          right={checked.sections.tools ?? ""}
          equal="The file stays as it is."
        />
      )}
    </div>
  );
}

function Costs({
  before,
  after,
  result,
}: {
  before: Before;
  after: JsonObject | null;
  result?: JsonObject;
}) {
  const listed = tokensIn(compact(before.definition));
  const now = after ? tokensIn(compact(after)) : 0;
  return (
    <dl class="costs" aria-label="Tokens before and after">
      <div>
        <dt>Listing it</dt>
        <dd>
          {tokens(listed)} <Icon name="right" /> <b>{tokens(now)}</b> tokens
        </dd>
      </div>
      {before.result && (
        <div>
          <dt>The last result</dt>
          <dd>
            {tokens(before.result.tokens)} <Icon name="right" />{" "}
            <b>{tokens(result ? tokensIn(compact(result)) : before.result.tokens)}</b> tokens
          </dd>
        </div>
      )}
    </dl>
  );
}

function Troubles({ messages }: { messages: string[] }) {
  const all = [...new Set(messages)];
  if (!all.length) return null;
  return (
    <ul class="banner bad" role="alert" aria-label="Problems">
      {all.map((message) => (
        <li key={message}>
          <Text of={message} />
        </li>
      ))}
    </ul>
  );
}

function ResultPreview({ draft, before }: { draft: Draft; before: Before }) {
  const sample = draft.checked?.sample;
  if (!before.result)
    return (
      <p class="hint">Run the tool for a real result: what callers get of it is shown here.</p>
    );
  if (sample?.error)
    return (
      <p class="banner bad">
        <Text of={sample.error} />
      </p>
    );
  if (sample?.result) return <ResultView result={sample.result} />;
  return <ValueView value={sample?.value ?? before.result.raw} title="The result, as it is" />;
}
