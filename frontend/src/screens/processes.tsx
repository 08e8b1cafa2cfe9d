/** The processes that serve the same, workers and replicas: their calls, and how their servers are. */
import { count } from "../format";
import type { Overview } from "../types";
import { plain, Text } from "../ui/text";
import { StateBadge } from "./server";

type Process = NonNullable<Overview["processes"]>[number];

/** What a process says of its servers, in the words of the overview. */
const STATES: Record<string, string> = { up: "ready", down: "failed" };

export function Processes({ processes }: { processes: Process[] }) {
  return (
    <section aria-label="Processes">
      <h2>Processes that serve this</h2>
      <div class="table-box" tabIndex={0}>
        <table class="data">
          <thead>
            <tr>
              <th>Process</th>
              <th>Calls</th>
              <th>Failed</th>
              <th>Its servers</th>
            </tr>
          </thead>
          <tbody>
            {processes.map((one) => (
              <tr key={one.process}>
                <td>
                  <code title={plain(one.process)}>
                    <Text of={`${one.host} ${one.pid}`} />
                  </code>{" "}
                  {one.self && <span class="quiet">answers this page</span>}
                </td>
                <td class="number">{count(one.calls)}</td>
                <td class="number">{count(one.errors)}</td>
                <td>
                  <Servers of={one} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}

function Servers({ of }: { of: Process }) {
  if (!of.servers.length) return <span class="quiet">it runs none</span>;
  return (
    <ul class="process-servers">
      {of.servers.map(([name, state, reason]) => (
        <li key={name}>
          <Text of={name} /> <StateBadge state={STATES[state] ?? state} />{" "}
          {reason && (
            <span class="quiet">
              <Text of={reason} />
            </span>
          )}
        </li>
      ))}
    </ul>
  );
}
