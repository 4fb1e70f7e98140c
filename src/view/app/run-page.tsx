/** One run: health, charts, and a step to look at. */
import { useState } from "preact/hooks";
import type { ChangedOption, Facets, MetricTable, RunCost, RunEntry } from "../api.ts";
import { Chart } from "./chart.tsx";
import { counted, whole } from "./format.ts";
import { Health } from "./health-panel.tsx";
import { isBadEnd } from "../run-status.ts";
import { Pending } from "./pending.tsx";
import { useRead } from "./read.ts";
import { RewardPanel } from "./reward-panel.tsx";
import { go, linkTo } from "./route.ts";
import { TableHead } from "./table-head.tsx";

const first = [
  "reward/mean",
  "val/reward/mean",
  "rollout/pass@1",
  "train/entropy",
  "train/grad_norm",
  "train/loss",
  "train/logprob_abs_diff_mean",
  "episode/tokens/response",
  "episode/truncated",
  "time/step_s",
];

/** Why it ended, before anything that it measured. */
function End({ run }: { run: RunEntry }) {
  if (run.reason === null) return null;
  return (
    <p class={`banner ${isBadEnd(run.status) ? "bad" : ""}`} role="alert">
      <strong>{run.status}:</strong> {run.reason}
    </p>
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
    <details>
      <summary>{counted(changed.length, "option")} set to other than the default</summary>
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

function StepSlider({ run, steps }: { run: RunEntry; steps: readonly number[] }) {
  const [at, setAt] = useState(steps.length - 1);
  const step = steps[Math.min(at, steps.length - 1)];
  if (step === undefined) return null;
  return (
    <section aria-label="Episodes of a step" class="row">
      <label class="grow">
        Step {step}
        <input
          type="range"
          min={0}
          max={steps.length - 1}
          value={at}
          aria-valuetext={`step ${step}`}
          onInput={(event) => setAt(Number(event.currentTarget.value))}
        />
      </label>
      <a href={linkTo("episodes", run.key, "", { step })}>Episodes of step {step}</a>
    </section>
  );
}

function Charts({ run, table }: { run: RunEntry; table: MetricTable }) {
  const [text, setText] = useState("");
  const names = Object.keys(table.series).toSorted();
  const shown =
    text === ""
      ? first.filter((name) => names.includes(name))
      : names.filter((name) => name.includes(text)).slice(0, 24);
  return (
    <section aria-label="Metrics">
      <div class="row">
        <h2>Metrics</h2>
        <input
          type="search"
          placeholder={`find one of ${names.length} metrics`}
          aria-label="Find metrics"
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
        />
      </div>
      {shown.length === 0 && <p class="dim">No metric has this in its name.</p>}
      <div class="charts">
        {shown.map((name) => (
          <Chart
            key={name}
            title={name}
            steps={table.steps}
            lines={[{ name, values: table.series[name] ?? [] }]}
            onStep={(step) => go(linkTo("episodes", run.key, "", { step }))}
          />
        ))}
      </div>
    </section>
  );
}

export function RunPage({ run, stamp }: { run: RunEntry; stamp: string }) {
  const { value: table, error } = useRead<MetricTable>(`/api/runs/${run.key}/metrics`, stamp);
  const { value: cost } = useRead<RunCost>(`/api/runs/${run.key}/cost`, stamp);
  const { value: facets } = useRead<Facets>(`/api/runs/${run.key}/facets`, stamp);
  return (
    <>
      <h1>{run.name}</h1>
      <End run={run} />
      <p class="dim">
        {run.model} · {run.backend} · {run.status} · {run.steps}/{run.totalSteps ?? "?"} steps ·{" "}
        <a href={linkTo("episodes", run.key)}>{whole(run.index.episodes)} episodes</a> ·{" "}
        {whole(run.index.calls)} calls
        {run.index.damaged > 0 && ` · ${run.index.damaged} damaged lines skipped`}
      </p>
      {cost !== null && <p class="dim">Cost: {cost.text}</p>}
      <Options run={run} />
      <Health run={run} stamp={stamp} />
      {facets !== null && <StepSlider key={facets.steps.length} run={run} steps={facets.steps} />}
      {table === null && <Pending what="the metrics" error={error} />}
      {table?.steps.length === 0 && <p class="dim">No step has been measured yet.</p>}
      {table !== null && table.steps.length > 0 && (
        <>
          <Charts run={run} table={table} />
          <RewardPanel run={run} table={table} stamp={stamp} />
        </>
      )}
    </>
  );
}
