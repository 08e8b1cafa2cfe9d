/** What an edit changes for clients, tool by tool. */
import { pretty } from "../json";
import type { Change, Checked } from "../types";
import { Badge, Fold } from "../ui/controls";
import { DiffView } from "../ui/diff";
import { Empty } from "../ui/states";
import { Text } from "../ui/text";

const TONES = { added: "good", removed: "bad", changed: "accent", disabled: "bad" } as const;

export function Effect({ checked, changed }: { checked: Checked | null; changed: boolean }) {
  if (!changed)
    return (
      <Empty icon="registry" title="Nothing is changed">
        Edit the file: what that changes for clients is shown here.
      </Empty>
    );
  if (!checked || checked.problems.some((one) => !one.standing)) return null;
  return (
    <section aria-label="Effect">
      <h2>What changes for clients</h2>
      {!checked.changes.length && <p class="hint">Nothing: the catalog stays as it is.</p>}
      {checked.warnings.map((warning) => (
        <p key={warning} class="banner warn">
          <Text of={warning} />
        </p>
      ))}
      {checked.changes.slice(0, 100).map((change) => (
        <ChangeView key={change.name} change={change} open={checked.changes.length === 1} />
      ))}
    </section>
  );
}

function ChangeView({ change, open }: { change: Change; open: boolean }) {
  const title = (
    <>
      <Badge tone={TONES[change.kind]}>{change.kind}</Badge>{" "}
      <code>
        <Text of={change.name} />
      </code>
    </>
  );
  return (
    <Fold title={title} open={open}>
      {() => (
        <>
          {change.reason && (
            <p class="banner bad">
              <Text of={change.reason} />
            </p>
          )}
          <DiffView
            leftTitle="Now"
            rightTitle="Then"
            left={change.before ? pretty(change.before) : ""}
            right={change.after ? pretty(change.after) : ""}
          />
        </>
      )}
    </Fold>
  );
}
