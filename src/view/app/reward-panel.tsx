/** The reward and its parts: over time, and how they go together over episodes. */
import type { Correlation, MetricTable, RewardParts, RunEntry } from "../api/runs.ts";
import { Chart } from "./chart.tsx";
import type { ChartSettings } from "./chart-settings.tsx";
import { shortNumber, whole } from "./format.ts";
import { Pending } from "./pending.tsx";
import { useRead } from "./read.ts";
import { linkTo } from "./route.ts";

const prefix = "episode/signal/";

const mean = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length;

/** Means of the first and of the last third; null for fewer than three values. */
function trend(values: readonly (number | null)[]): readonly [number, number] | null {
  const known = values.filter((value) => value !== null);
  const third = Math.floor(known.length / 3);
  return third === 0 ? null : [mean(known.slice(0, third)), mean(known.slice(-third))];
}

/** Class by strength and sign, where the interval leaves 0 out. */
function strength({ r, low, high }: Correlation): string {
  if (low <= 0 && high >= 0) return "";
  const level = Math.abs(r) > 0.7 ? 3 : Math.abs(r) > 0.4 ? 2 : 1;
  return `${r > 0 ? "more" : "less"}${level}`;
}

function Cell({ cell }: { cell: Correlation | null }) {
  if (cell === null)
    return (
      <td class="dim" title="One of the two never varies, or there are fewer than 4 episodes.">
        –
      </td>
    );
  const interval = `${cell.low.toFixed(2)} to ${cell.high.toFixed(2)}`;
  return (
    <td class={strength(cell)} title={`95 % interval ${interval}, ${cell.episodes} episodes`}>
      {cell.r.toFixed(2)}
      <span class="interval">{interval}</span>
    </td>
  );
}

function Matrix({ run, parts }: { run: RunEntry; parts: RewardParts }) {
  const { names, cells, episodes, fromStep, toStep } = parts;
  return (
    <>
      <p class="dim small">
        Correlations over the newest {whole(episodes)}{" "}
        <a href={linkTo("episodes", run.key, "", { phase: "train" })}>training episodes</a> with a
        reward, of steps {fromStep} to {toStep}, with 95 % intervals that treat episodes as
        independent. Colored where the interval excludes 0.
      </p>
      <div class="scroll" tabIndex={0} role="region" aria-label="Correlations">
        <table class="matrix">
          <thead>
            <tr>
              <th scope="col">
                <span class="dim">with</span>
              </th>
              {names.slice(0, -1).map((name) => (
                <th key={name} scope="col">
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {names.slice(1).map((name, i) => (
              <tr key={name}>
                <th scope="row">{name}</th>
                {names.slice(0, -1).map((other, j) =>
                  // What stands above the diagonal would only be said twice.
                  j > i ? (
                    <td key={other} />
                  ) : (
                    <Cell key={other} cell={cells[i + 1]?.[j] ?? null} />
                  ),
                )}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </>
  );
}

const word = (from: number, to: number): string =>
  to > from ? "▲ rises" : to < from ? "▼ falls" : "stays";

interface RewardProps {
  readonly run: RunEntry;
  readonly table: MetricTable;
  readonly stamp: string;
  readonly settings: ChartSettings;
}

export function RewardPanel({ run, table, stamp, settings }: RewardProps) {
  const {
    value: parts,
    error,
    isLoading,
  } = useRead<RewardParts | null>(`/api/runs/${run.key}/parts`, stamp);
  const signals = Object.keys(table.series).filter((name) => name.startsWith(prefix));
  const shown = ["reward/mean", ...signals].filter((name) => table.series[name] !== undefined);
  const trends = shown.flatMap((name) => {
    const found = trend(table.series[name] ?? []);
    return found === null ? [] : [{ name: name.replace(prefix, ""), found }];
  });
  if (isLoading || error !== null) return <Pending what="the parts of the reward" error={error} />;
  if (parts === null) return <p class="dim">No training episode has a reward yet.</p>;
  return (
    <section aria-label="Reward" class="panel">
      <header>
        <h2>The reward and its parts</h2>
      </header>
      {signals.length === 0 && (
        <p class="dim">
          The evaluator reports no parts of the reward: it may return signals, one number for each.
        </p>
      )}
      {signals.length > 0 && (
        <Chart
          title="reward and its parts"
          steps={table.steps}
          lines={shown.slice(0, 8).map((name) => ({
            name: name.replace(prefix, ""),
            values: table.series[name] ?? [],
          }))}
          height={200}
          {...settings}
        />
      )}
      {signals.length > 0 && trends.length > 0 && (
        <p class="row small trends">
          <span class="dim">From the first third of the run to the last:</span>
          {trends.map(({ name, found: [from, to] }) => (
            <span key={name} class="chip">
              {name} {shortNumber(from)} → {shortNumber(to)}{" "}
              <span class={to < from ? "bad" : "good"}>{word(from, to)}</span>
            </span>
          ))}
        </p>
      )}
      <details class="correlations">
        <summary>How the parts go together, and with the length of episodes</summary>
        <Matrix run={run} parts={parts} />
      </details>
    </section>
  );
}
