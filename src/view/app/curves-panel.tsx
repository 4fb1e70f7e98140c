/** The same metric of several runs in one chart; of those that differ in their seed alone, the mean and the range. */
import { useState } from "preact/hooks";
import type { MetricTable, RunEntry } from "../api/runs.ts";
import type { RunsApart } from "../api/comparisons.ts";
import { bandOf, type Values } from "../curves.ts";
import { Chart } from "./chart.tsx";
import type { ChartLine, ChartProps } from "./plot.ts";
import { type ChartControls, ChartSettingsBar } from "./chart-settings.tsx";
import { differingOptions } from "./differing-options.ts";
import { colorOf, maxLines, maxRuns } from "./overlaid.ts";
import { useRead } from "./read.ts";
import { remembered } from "./remember.ts";
import { settingName } from "./settings.ts";

/** Hooks need a fixed number of calls. */
const places = Array.from({ length: maxRuns }, (_, i) => i);

const shownName = (run: RunEntry): string => remembered(`name/${run.path}`) || run.name;

function useMetrics(runs: readonly RunEntry[]): readonly (MetricTable | null)[] {
  return places.map((i) => {
    const run = runs[i];
    const { value } = useRead<MetricTable>(
      run === undefined ? null : `/api/runs/${run.key}/metrics`,
      run?.steps ?? 0,
    );
    return value;
  });
}

interface Curve {
  readonly run: RunEntry;
  readonly values: Values;
}

type Lines = Required<Pick<ChartProps, "lines" | "bands">>;

/** Of several seeds what sets them apart from the others, of one run its name. */
function lineName(run: RunEntry, members: number, joined: RunsApart | null): string {
  if (members === 1 || joined === null) return shownName(run);
  const setting = settingName(differingOptions(joined, run.key, false));
  return setting === ""
    ? `${shownName(run)} and ${members - 1} more of other seeds`
    : `${setting}, ${members} seeds`;
}

/** A line for each color, with a band where several runs have it. */
function linesOf(
  curves: readonly Curve[],
  runs: readonly RunEntry[],
  joined: RunsApart | null,
): Lines {
  const lines: ChartLine[] = [];
  const bands: Lines["bands"][number][] = [];
  for (let place = 0; place < maxLines; place++) {
    const members = curves.filter(({ run }) => colorOf(run, runs, joined) === place + 1);
    const [first] = members;
    if (first === undefined) continue;
    const { mean, low, high } = bandOf(members.map(({ values }) => values));
    if (members.length > 1) bands.push({ low, high, line: lines.length });
    lines.push({
      name: lineName(first.run, members.length, joined),
      values: mean,
      token: `--line${place + 1}`,
    });
  }
  return { lines, bands };
}

interface CurvesProps {
  /** Those that are overlaid. */
  readonly runs: readonly RunEntry[];
  readonly all: number;
  /** Null where curves of other seeds are not joined. */
  readonly joined: RunsApart | null;
  /** Null where there is nothing to join. */
  readonly onJoin: ((isJoined: boolean) => void) | null;
  readonly controls: ChartControls;
}

export function Curves({ runs, all, joined, onJoin, controls }: CurvesProps) {
  const [metric, setMetric] = useState("reward/mean");
  const tables = useMetrics(runs);
  const names = [
    ...new Set(tables.flatMap((table) => Object.keys(table?.series ?? {}))),
  ].toSorted();
  const steps = [...new Set(tables.flatMap((table) => table?.steps ?? []))].toSorted(
    (a, b) => a - b,
  );
  const curves = runs.flatMap((run, i): Curve[] => {
    const table = tables[i];
    if (table === null || table === undefined) return [];
    const at = new Map(table.steps.map((step, place) => [step, place]));
    const values = steps.map((step) => table.series[metric]?.[at.get(step) ?? -1] ?? null);
    return [{ run, values }];
  });
  if (names.length === 0) return null;
  return (
    <section aria-label="Curves" class="panel">
      <header>
        <h2>Overlay</h2>
        <label class="row small">
          Metric
          <select value={metric} onChange={(event) => setMetric(event.currentTarget.value)}>
            {names.map((name) => (
              <option key={name} value={name} selected={name === metric}>
                {name}
              </option>
            ))}
          </select>
        </label>
        {onJoin !== null && (
          <label class="row small">
            <input
              type="checkbox"
              checked={joined !== null}
              onChange={(event) => onJoin(event.currentTarget.checked)}
            />
            mean and range over seeds
          </label>
        )}
        <ChartSettingsBar {...controls} />
      </header>
      <Chart
        title={metric}
        steps={steps}
        {...linesOf(curves, runs, joined)}
        height={240}
        isLog={controls.isLog}
        smoothing={controls.smoothing}
      />
      {all > runs.length && (
        <p class="dim small">
          {runs.length} of {all} runs are overlaid: <kbd>x</kbd> adds and removes the selected one.
        </p>
      )}
    </section>
  );
}
