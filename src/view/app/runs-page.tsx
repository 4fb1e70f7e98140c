/** All runs, the same metric of several of them in one chart, and their differences. */
import type { RunEntry } from "../api.ts";
import { clipText } from "../episode/visible-text.ts";
import { isBadEnd } from "../run-status.ts";
import { Curves, Differences } from "./comparison.tsx";
import { reward, whole } from "./format.ts";
import { go, linkTo } from "./route.ts";
import { SelectableRow, useSelection } from "./selection.tsx";
import { TableHead } from "./table-head.tsx";

/** Characters of the reason in the list; the page of the run has all of it. */
const maxReason = 400;

function progress({ index }: RunEntry): string {
  if (index.bytesTotal === 0 || index.bytesRead >= index.bytesTotal) return "";
  return ` (index ${Math.floor((100 * index.bytesRead) / index.bytesTotal)} %)`;
}

/** The first finding by name; the run's page has all of them. */
function Findings({ run }: { run: RunEntry }) {
  const [first, ...others] = run.findings;
  if (first === undefined) return <></>;
  return (
    <a href={linkTo("run", run.key)}>
      {first.severity}: {first.name}
      {others.length === 0 ? "" : ` and ${others.length} more`}
    </a>
  );
}

function RunRow({ run, isSelected }: { run: RunEntry; isSelected: boolean }) {
  return (
    <SelectableRow isSelected={isSelected}>
      <th scope="row">
        <a href={linkTo("run", run.key)}>{run.name}</a>
      </th>
      <td>{run.model}</td>
      <td>
        <span class={isBadEnd(run.status) ? "bad" : ""}>{run.status}</span>
        {run.reason !== null && run.status !== "stopped" && (
          <div class="reason">{clipText(run.reason, maxReason)}</div>
        )}
      </td>
      <td>
        {run.steps}/{run.totalSteps ?? "?"}
      </td>
      <td>
        {reward(run.firstReward)} → {reward(run.lastReward)}
      </td>
      <td>
        <Findings run={run} />
      </td>
      <td>
        <a href={linkTo("episodes", run.key)}>{whole(run.index.episodes)}</a>
        {progress(run)}
      </td>
      <td>{whole(run.index.calls)}</td>
    </SelectableRow>
  );
}

export function RunsPage({ runs }: { runs: readonly RunEntry[] }) {
  const selected = useSelection("", runs, ({ key }) => go(linkTo("run", key)));
  return (
    <>
      <h1>Runs</h1>
      <div class="scroll">
        <table>
          <TableHead
            columns={["run", "model", "status", "steps", "reward", "health", "episodes", "calls"]}
          />
          <tbody>
            {runs.map((run, i) => (
              <RunRow key={run.key} run={run} isSelected={i === selected} />
            ))}
          </tbody>
        </table>
      </div>
      <Curves runs={runs} />
      <Differences runs={runs} />
    </>
  );
}
