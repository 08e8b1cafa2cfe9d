/** The last runs of this entry. */
import { useEffect, useState } from "preact/hooks";
import { dayAndClock, ms } from "../format";
import { compact } from "../json";
import { recent, runsChanged, type Kept } from "../model/history";
import { useStore } from "../store";
import { Text } from "../ui/text";
import "./recent.css";

export function Recent({ name, choose }: { name: string; choose: (kept: Kept) => void }) {
  const round = useStore(runsChanged);
  const [runs, setRuns] = useState<Kept[]>([]);
  useEffect(() => {
    let gone = false;
    recent(name, 8).then(
      (found) => gone || setRuns(found),
      () => undefined,
    );
    return () => {
      gone = true;
    };
  }, [name, round]);
  if (!runs.length) return null;
  return (
    <section class="recent" aria-label="Earlier runs">
      <h3>Earlier runs</h3>
      <ul>
        {runs.map((run) => (
          <li key={run.id}>
            <button
              type="button"
              class="recent-run"
              onClick={() => choose(run)}
              title="Put these arguments into the form"
            >
              <span class={`dot ${run.outcome}`} />
              <span class="quiet">{dayAndClock(run.at)}</span>
              <code>
                <Text of={compact(run.params.arguments ?? run.params).slice(0, 160)} />
              </code>
              <span class="number quiet">{ms(run.ms)}</span>
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}
