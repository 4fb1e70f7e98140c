/** One run: is it learning, is it healthy, what changed, what did it cost; then all that was measured. */
import type { ChangedOption, MetricTable, RunCost, RunEntry } from "../api/runs.ts";
import type { Facets } from "../api/episodes.ts";
import { ChangesPanel } from "./changes-panel.tsx";
import { useChartSettings } from "./chart-settings.tsx";
import { CostPanel } from "./cost-panel.tsx";
import { counted } from "./format.ts";
import { Health } from "./health-panel.tsx";
import { LearningPanel } from "./learning-panel.tsx";
import { Multiples } from "./multiples.tsx";
import { Pending } from "./pending.tsx";
import { useRead } from "./read.ts";
import { RewardPanel } from "./reward-panel.tsx";
import { RunHead } from "./run-head.tsx";
import { TableHead } from "./table-head.tsx";
import { useState } from "preact/hooks";
import { linkTo } from "./route.ts";

/** Leads to the episodes of a step. */
function StepSlider({ run, steps }: { run: RunEntry; steps: readonly number[] }) {
  const [at, setAt] = useState(steps.length - 1);
  const step = steps[Math.min(at, steps.length - 1)];
  if (step === undefined) return null;
  return (
    <section aria-label="Episodes of a step" class="panel">
      <header>
        <h2>What did it do?</h2>
        <a class="end" href={linkTo("episodes", run.key, "", { step })}>
          Episodes of step {step}
        </a>
      </header>
      <label class="row">
        <span class="number nowrap">Step {step}</span>
        <input
          class="grow"
          type="range"
          min={0}
          max={steps.length - 1}
          value={at}
          aria-valuetext={`step ${step}`}
          onInput={(event) => setAt(Number(event.currentTarget.value))}
        />
      </label>
    </section>
  );
}

/** What was configured, as far as it is not the default. */
function Options({ run }: { run: RunEntry }) {
  const { value: changed, error } = useRead<readonly ChangedOption[]>(
    `/api/runs/${run.key}/options`,
  );
  if (changed === null) return <Pending what="the options" error={error} />;
  if (changed.length === 0) return null;
  return (
    <details class="panel">
      <summary>
        <h2 class="inline">{counted(changed.length, "option")} set to other than the default</h2>
      </summary>
      <div class="scroll">
        <table>
          <TableHead columns={["option", "value", "default"]} />
          <tbody>
            {changed.map(({ key, value, default: usual }) => (
              <tr key={key}>
                <th scope="row">
                  <code>{key}</code>
                </th>
                <td>{value}</td>
                <td class="dim">{usual ?? "–"}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </details>
  );
}

export function RunPage({ run, stamp }: { run: RunEntry; stamp: string }) {
  const { value: table, error } = useRead<MetricTable>(`/api/runs/${run.key}/metrics`, stamp);
  const { value: cost } = useRead<RunCost>(`/api/runs/${run.key}/cost`, stamp);
  const { value: facets } = useRead<Facets>(`/api/runs/${run.key}/facets`, stamp);
  const controls = useChartSettings();
  const { smoothing, isLog } = controls;
  const settings = { smoothing, isLog };
  const isMeasured = table !== null && table.steps.length > 0;
  return (
    <div class="stack">
      <RunHead run={run} />
      <div class="overview">
        <div class="stack">
          {table === null && (
            <section class="panel learning">
              <Pending what="the metrics" error={error} />
            </section>
          )}
          {table?.steps.length === 0 && (
            <section class="panel">
              <h2>Is it learning?</h2>
              <p class="dim">No step has been measured yet.</p>
            </section>
          )}
          {isMeasured && <LearningPanel run={run} table={table} controls={controls} />}
          <ChangesPanel run={run} stamp={stamp} />
        </div>
        <div class="stack">
          <Health run={run} stamp={stamp} table={isMeasured ? table : null} settings={settings} />
          <CostPanel cost={cost} />
          {facets !== null && (
            <StepSlider key={facets.steps.length} run={run} steps={facets.steps} />
          )}
        </div>
      </div>
      {isMeasured && (
        <>
          <Multiples run={run} table={table} settings={settings} />
          <RewardPanel run={run} table={table} stamp={stamp} settings={settings} />
        </>
      )}
      <Options run={run} />
    </div>
  );
}
