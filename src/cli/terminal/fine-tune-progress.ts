/** Shows fine-tuning on stderr: a line per step, which is rewritten on a terminal, and one per validation. */
import type { TrainerEvent } from "../../core/events.ts";
import { formatFinding } from "../report/health-report.ts";
import { bar, duration, type Progress } from "./progress.ts";
import { createLiveLine, type ProgressOptions } from "./live-line.ts";
import { colorsFor, safeText } from "./terminal.ts";

type Metrics = Readonly<Record<string, number>>;

const show = (value: number | undefined, digits: number): string =>
  value === undefined ? "-" : value.toFixed(digits);

/** Loss, for pairs how many are ranked correctly, and the reward where it is measured. */
function numbersOf(metrics: Metrics, prefix: "train" | "val"): string {
  const accuracy = metrics[`${prefix}/rewards/accuracies`];
  const right = accuracy === undefined ? [] : [`preferred ${Math.round(accuracy * 100)} %`];
  const { [`${prefix}/loss`]: loss, "val/reward/mean": reward } = metrics;
  return [
    ...(loss === undefined && reward !== undefined ? [] : [`loss ${show(loss, 4)}`]),
    ...right,
    ...(reward === undefined ? [] : [`reward ${show(reward, 3)}`]),
  ].join("  ");
}

/** A display for one run. */
export function createFineTuneProgress(options: ProgressOptions): Progress {
  const { stream, isQuiet, now = Date.now, env = process.env } = options;
  const colors = colorsFor(stream, env);
  const live = createLiveLine(options);
  const { print } = live;
  let total = 0;
  let first = 0;
  let startedAt = now();

  function step(number: number, metrics: Metrics): void {
    const speed = `${show(metrics["tokens/per_s"], 0)} tok/s`;
    const parts = [`step ${number}/${total}`, numbersOf(metrics, "train"), speed];
    if (!live.isLive) return print(parts.join("  "));
    const left = ((now() - startedAt) / 1000 / (number - first)) * (total - number);
    live.show([bar(number / total, 10), ...parts, `${duration(left)} left`]);
  }

  return {
    clear: live.clear,
    onEvent(event: TrainerEvent) {
      if (event.type === "warning") {
        live.warn(event.message);
        return;
      }
      if (event.type === "health") {
        print(formatFinding(event.finding, colors, stream.columns));
        return;
      }
      if (isQuiet) return;
      switch (event.type) {
        case "run-start":
          [total, first, startedAt] = [event.totalSteps, event.step, now()];
          print(
            `run ${event.runDir}  seed ${event.seed}${event.resumedFrom === null ? "" : `  resumed after step ${event.step}`}`,
          );
          if (event.estimate !== undefined) print(colors.dim(event.estimate));
          return;
        case "step-start":
          // The first one takes a while, and nothing was measured yet.
          if (event.step === first + 1)
            live.show([bar(first / total, 10), `step ${event.step}/${total}`]);
          return;
        case "step-end":
          step(event.step, event.metrics);
          return;
        case "validation-end":
          print(
            colors.cyan(`validation after step ${event.step}: ${numbersOf(event.metrics, "val")}`),
          );
          return;
        case "run-end":
          if (event.status === "out_of_budget" && event.message !== null)
            print(safeText(event.message));
          return;
        case "checkpoint-save":
          print(colors.dim(`saved ${event.path}`));
          return;
        default:
          return;
      }
    },
  };
}
