/** What a call went through: each step with its time and its size. */
import { useState } from "preact/hooks";
import { ms, tokens } from "../format";
import type { JsonObject, Stage } from "../types";
import { Icon } from "../ui/icon";
import { Text } from "../ui/text";
import { ValueView } from "../ui/value";
import "./stages.css";

export function Stages({ stages, result }: { stages: Stage[]; result: JsonObject }) {
  const most = Math.max(...stages.map((stage) => stage.ms), 0.001);
  return (
    <section class="stages" aria-label="Stages">
      <h3>Stages</h3>
      <ol>
        {stages.map((stage, index) => (
          <StageRow
            key={index}
            stage={stage}
            label={labelOf(stage, stages[index - 1])}
            part={stage.ms / most}
            result={result}
          />
        ))}
      </ol>
    </section>
  );
}

function labelOf(stage: Stage, before: Stage | undefined): string {
  const whom = stage.to === "project" ? "the script" : (stage.to ?? "");
  if (stage.name === "arguments") return "Arguments, as given";
  if (stage.name === "sent")
    return stage.same ? `Sent to ${whom}, unchanged` : `Sent to ${whom}, with defaults added`;
  if (stage.name === "returned") return `Returned by ${whom}`;
  return before?.name === "returned" && before.same
    ? "Result, unchanged"
    : "Result, as the client gets it";
}

function StageRow({
  stage,
  label,
  part,
  result,
}: {
  stage: Stage;
  label: string;
  part: number;
  result: JsonObject;
}) {
  const [open, setOpen] = useState(false);
  const value = stage.name === "result" ? result : stage.value;
  return (
    <li>
      <button
        type="button"
        class="stage"
        aria-expanded={open}
        disabled={value === undefined}
        onClick={() => setOpen(!open)}
      >
        <Icon name={open ? "down" : "right"} />
        <span class="stage-label">
          <Text of={label} />
          <span class="stage-bar" aria-hidden="true">
            <span style={{ width: `${Math.max(part * 100, 0.5)}%` }} />
          </span>
        </span>
        <span class="number">{ms(stage.ms)}</span>
        <span class="number">{tokens(stage.tokens)} tok</span>
      </button>
      {open && value !== undefined && <ValueView value={value} />}
    </li>
  );
}
