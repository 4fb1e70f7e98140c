/** All runs, and the same metric of several of them in one chart. */
import { useState } from "preact/hooks";
import type { MetricTable, RunEntry } from "../api.ts";
import { Chart } from "./chart.tsx";
import { reward, whole } from "./format.ts";
import { useRead } from "./read.ts";
import { linkTo } from "./route.ts";

function progress({ index }: RunEntry): string {
  if (index.bytesTotal === 0 || index.bytesRead >= index.bytesTotal) return "";
  return ` (index ${Math.floor((100 * index.bytesRead) / index.bytesTotal)} %)`;
}

function RunRow({ run }: { run: RunEntry }) {
  return (
    <tr>
      <th scope="row">
        <a href={linkTo("run", run.key)}>{run.name}</a>
      </th>
      <td>{run.model}</td>
      <td>{run.status}</td>
      <td>
        {run.steps}/{run.totalSteps ?? "?"}
      </td>
      <td>
        {reward(run.firstReward)} → {reward(run.lastReward)}
      </td>
      <td>
        <a href={linkTo("episodes", run.key)}>{whole(run.index.episodes)}</a>
        {progress(run)}
      </td>
      <td>{whole(run.index.calls)}</td>
    </tr>
  );
}

function useMetrics(runs: readonly RunEntry[]): readonly (MetricTable | null)[] {
  // Hooks need a fixed number of calls: at most these runs are compared.
  const compared = [0, 1, 2, 3].map((i) => runs[i]);
  return compared.map((run) => {
    const { value } = useRead<MetricTable>(
      run === undefined ? null : `/api/runs/${run.key}/metrics`,
      run?.steps ?? 0,
    );
    return value;
  });
}

function Comparison({ runs }: { runs: readonly RunEntry[] }) {
  const [metric, setMetric] = useState("reward/mean");
  const tables = useMetrics(runs);
  const names = [
    ...new Set(tables.flatMap((table) => Object.keys(table?.series ?? {}))),
  ].toSorted();
  const steps = [...new Set(tables.flatMap((table) => table?.steps ?? []))].toSorted(
    (a, b) => a - b,
  );
  const lines = runs.slice(0, tables.length).flatMap(({ name }, i) => {
    const table = tables[i];
    if (table === null || table === undefined) return [];
    const at = new Map(table.steps.map((step, place) => [step, place]));
    return [
      { name, values: steps.map((step) => table.series[metric]?.[at.get(step) ?? -1] ?? null) },
    ];
  });
  if (names.length === 0) return null;
  return (
    <section aria-label="Comparison">
      <h2>Compare</h2>
      <label>
        Metric{" "}
        <select value={metric} onChange={(event) => setMetric(event.currentTarget.value)}>
          {names.map((name) => (
            <option key={name}>{name}</option>
          ))}
        </select>
      </label>
      <Chart title={metric} steps={steps} lines={lines} height={260} />
      {runs.length > tables.length && <p class="dim">The first {tables.length} runs are shown.</p>}
    </section>
  );
}

export function RunsPage({ runs }: { runs: readonly RunEntry[] }) {
  return (
    <>
      <h1>Runs</h1>
      <div class="scroll">
        <table>
          <thead>
            <tr>
              {["run", "model", "status", "steps", "reward", "episodes", "calls"].map((name) => (
                <th key={name} scope="col">
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {runs.map((run) => (
              <RunRow key={run.key} run={run} />
            ))}
          </tbody>
        </table>
      </div>
      <Comparison runs={runs} />
    </>
  );
}
