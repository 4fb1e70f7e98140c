/** Is it learning? The reward with the spread of its rollouts, validations, and the best of them. */
import type { MetricTable, RunEntry } from "../api/runs.ts";
import { bestOf, endsOf, rewardSpread, smooth, type Values } from "../curves.ts";
import { Chart } from "./chart.tsx";
import type { ChartLine } from "./plot.ts";
import { type ChartControls, ChartSettingsBar } from "./chart-settings.tsx";
import { reward, shortNumber, signed } from "./format.ts";
import { go, linkTo } from "./route.ts";

/** What a run is measured by: rewards, or the loss of examples. */
interface Measure {
  readonly train: string;
  readonly validation: string;
  readonly title: string;
  readonly isLowerBetter: boolean;
}

function measureOf({ series }: MetricTable): Measure {
  return series["reward/mean"] === undefined && series["train/loss"] !== undefined
    ? { train: "train/loss", validation: "val/loss", title: "Loss", isLowerBetter: true }
    : {
        train: "reward/mean",
        validation: "val/reward/mean",
        title: "Reward",
        isLowerBetter: false,
      };
}

/** Whether the end differs from the beginning, in words. */
function Trend({ values, measure }: { values: Values; measure: Measure }) {
  const [first, last] = endsOf(smooth(values, 0.6));
  if (first === null || last === null) return null;
  const change = last - first;
  const isSame = Math.abs(change) < 5e-4;
  const isBetter = measure.isLowerBetter ? change < 0 : change > 0;
  return (
    <div class="figure-block">
      <h3>{measure.title}, training</h3>
      <span class="figure">
        {reward(endsOf(values)[0])} → {reward(endsOf(values)[1])}
      </span>
      <span class={isSame ? "dim" : isBetter ? "good" : "warn"}>
        {isSame ? "no change" : `${change > 0 ? "▲" : "▼"} ${signed(change)}`}{" "}
        <span class="dim">smoothed</span>
      </span>
    </div>
  );
}

function Validation({ table, measure }: { table: MetricTable; measure: Measure }) {
  const values = table.series[measure.validation] ?? [];
  const [first, last] = endsOf(values);
  if (last === null) return null;
  const at = bestOf(
    measure.isLowerBetter ? values.map((one) => (one === null ? null : -one)) : values,
  );
  return (
    <div class="figure-block">
      <h3>{measure.title}, validation</h3>
      <span class="figure">
        {first !== last && `${reward(first)} → `}
        {reward(last)}
      </span>
      {at !== null && (
        <span>
          ◎ best {reward(values[at] ?? null)} <span class="dim">at step {table.steps[at]}</span>
        </span>
      )}
    </div>
  );
}

/** Values at one index only. */
const only = (values: Values, at: number | null): Values =>
  values.map((value, i) => (i === at ? value : null));

interface LearningProps {
  readonly run: RunEntry;
  readonly table: MetricTable;
  readonly controls: ChartControls;
}

export function LearningPanel({ run, table, controls }: LearningProps) {
  const measure = measureOf(table);
  const spread = rewardSpread(table);
  const values = table.series[measure.train] ?? table.steps.map(() => null);
  const validations = table.series[measure.validation];
  const best =
    validations === undefined
      ? null
      : bestOf(
          measure.isLowerBetter
            ? validations.map((one) => (one === null ? null : -one))
            : validations,
        );
  const lines: ChartLine[] = [
    { name: "training", values },
    ...(validations === undefined
      ? []
      : [
          { name: "validation", values: validations, kind: "points", token: "--line2" } as const,
          {
            name: "best",
            values: only(validations, best),
            kind: "best",
            token: "--line2",
          } as const,
        ]),
  ];
  const hasSpread = measure.train === "reward/mean" && spread.low.some((value) => value !== null);
  return (
    <section class="panel learning" aria-label="Learning">
      <header>
        <h2>Is it learning?</h2>
        <ChartSettingsBar {...controls} />
      </header>
      <div class="row figures">
        <Trend values={values} measure={measure} />
        <Validation table={table} measure={measure} />
      </div>
      <Chart
        title={measure.title.toLowerCase()}
        steps={table.steps}
        lines={lines}
        bands={hasSpread ? [{ low: spread.low, high: spread.high, line: 0 }] : []}
        height={232}
        isLog={controls.isLog}
        smoothing={controls.smoothing}
        onStep={(step) => go(linkTo("episodes", run.key, "", { step }))}
      >
        {hasSpread && (
          <span class="reading">
            <i class="swatch band" data-line="1" />
            <span class="dim">± 1 standard deviation of the rollouts</span>
          </span>
        )}
      </Chart>
      {controls.smoothing > 0 && (
        <p class="dim small">
          Faint: as measured. Strong: smoothed with weight {shortNumber(controls.smoothing)}.
        </p>
      )}
    </section>
  );
}
