/**
 * Shows a run's events on stderr: on a terminal a live line that is rewritten in place and a row per
 * step, otherwise one plain line per step.
 */
import { formatFinding } from "../report/health-report.ts";
import type { TrainerEvent } from "../../core/events.ts";
import type { NamedMetrics } from "../../core/metric-names.ts";
import { formatUsd } from "../../runs/spending.ts";
import { shortReason } from "../../core/skip-reason.ts";
import { createLiveLine, type ProgressOptions } from "./live-line.ts";
import { type Colors, colorsFor, safeText } from "./terminal.ts";
import { wrapText } from "./wrap-text.ts";

export interface Progress {
  onEvent(event: TrainerEvent): void;
  /** Clears the live line before something else is printed. */
  clear(): void;
}

type Metrics = Readonly<NamedMetrics>;

const show = (value: number | undefined, digits: number): string =>
  value === undefined ? "-" : value.toFixed(digits);
const percent = (value: number | undefined): string =>
  value === undefined ? "-" : `${Math.round(value * 100)} %`;

/** `75` → `1m 15s`. */
export function duration(seconds: number): string {
  const whole = Math.max(0, Math.round(seconds));
  if (whole < 60) return `${whole}s`;
  if (whole < 3600) return `${Math.floor(whole / 60)}m ${whole % 60}s`;
  return `${Math.floor(whole / 3600)}h ${Math.floor((whole % 3600) / 60)}m`;
}

/** A bar of `width` characters. */
export function bar(share: number, width: number): string {
  const full = Math.round(Math.min(1, Math.max(0, share)) * width);
  return "█".repeat(full) + "░".repeat(width - full);
}

const columns = ["step", "reward", "pass", "loss", "tok/s", "time"] as const;
const row = (cells: readonly string[]): string => cells.map((cell) => cell.padStart(9)).join(" ");

function stepCells(step: number, total: number, metrics: Metrics): string[] {
  return [
    `${step}/${total}`,
    show(metrics["reward/mean"], 3),
    percent(metrics["rollout/pass@1"]),
    metrics["train/skipped_steps"] === 1 ? "skipped" : show(metrics["train/loss"], 4),
    show(metrics["tokens/per_s"], 0),
    `${show(metrics["time/step_s"], 1)}s`,
  ];
}

/** What is spent, where it is counted, and notes on failed and excluded rollouts. */
function stepNotes(metrics: Metrics): string[] {
  const failed = metrics["rollout/failed"] ?? 0;
  const unused = metrics["rollout/unused"] ?? 0;
  const calls = metrics["rollout/unused_calls"] ?? 0;
  const reason = shortReason(metrics);
  const { "spent/usd": usd, "spent/tokens": tokens } = metrics;
  return [
    ...(tokens === undefined ? [] : [`spent ${tokens} tokens`]),
    ...(usd === undefined ? [] : [formatUsd(usd)]),
    ...(failed > 0 ? [`failed ${failed}/${metrics["rollout/episodes"] ?? failed}`] : []),
    ...(unused > 0 ? [`unused ${unused}${calls > 0 ? ` (${calls} calls)` : ""}`] : []),
    ...(reason === null ? [] : [`(${reason})`]),
  ];
}

/** A display for one run. */
export function createProgress(options: ProgressOptions): Progress {
  const { stream, isQuiet, now = Date.now, env = process.env } = options;
  const colors: Colors = colorsFor(stream, env);
  const live = createLiveLine(options);
  const { print } = live;
  let hasHeader = false;
  let total = 0;
  let firstStep = 0;
  let startedAt = now();
  let lastReward: number | undefined;
  let lastSpeed: number | undefined;
  let rollouts = { done: 0, of: 0 };
  /** `of` is known from the second validation on: each has as many. */
  let validation = { done: 0, of: 0, rewards: 0, startedAt: startedAt };

  function showStep(step: number): void {
    const done = step - 1 + (rollouts.of > 0 ? Math.min(1, rollouts.done / rollouts.of) : 0);
    const share = total > 0 ? done / total : 0;
    const sofar = done - firstStep;
    const left = sofar > 0 ? ((now() - startedAt) / 1000 / sofar) * (total - done) : undefined;
    live.show([
      `step ${step}/${total}`,
      bar(share, (stream.columns ?? 80) < 100 ? 10 : 20),
      // Any further rollouts belong to later steps.
      `rollouts ${Math.min(rollouts.done, rollouts.of)}/${rollouts.of}`,
      ...(rollouts.of > 0 && rollouts.done >= rollouts.of ? ["updating"] : []),
      ...(lastReward === undefined ? [] : [`reward ${lastReward.toFixed(3)}`]),
      ...(lastSpeed === undefined ? [] : [`${lastSpeed.toFixed(0)} tok/s`]),
      ...(left === undefined ? [] : [`${duration(left)} left`]),
    ]);
  }

  function showValidation(reward: number | null): void {
    if (validation.done === 0) validation.startedAt = now();
    validation.done++;
    validation.rewards += reward ?? 0;
    const { done, of, rewards } = validation;
    const seconds = (now() - validation.startedAt) / 1000;
    live.show([
      `validating ${done}${of > 0 ? `/${of}` : " done"}`,
      `reward ${(rewards / done).toFixed(3)}`,
      ...(of > done && seconds > 0 ? [`${duration((seconds / done) * (of - done))} left`] : []),
    ]);
  }

  function onStepEnd(step: number, metrics: Metrics): void {
    lastReward = metrics["reward/mean"];
    lastSpeed = metrics["tokens/per_s"];
    if (isQuiet) return;
    const cells = stepCells(step, total, metrics);
    const notes = stepNotes(metrics);
    if (!live.isLive) {
      const [name, ...rest] = cells;
      const numbers = rest.map((cell, i) => `${columns[i + 1]} ${cell}`);
      print(`step ${name} ${[...numbers, ...notes].join("  ")}`);
      return;
    }
    if (!hasHeader) print(colors.dim(row(columns)));
    hasHeader = true;
    print(wrapText([row(cells), ...notes].join("  "), stream.columns, 4));
  }

  return {
    clear: live.clear,
    onEvent(event) {
      switch (event.type) {
        case "run-start":
          total = event.totalSteps;
          firstStep = event.step;
          startedAt = now();
          if (isQuiet) return;
          print(
            event.resumedFrom === null
              ? `run ${event.runDir}  seed ${event.seed}`
              : `run ${event.runDir}  seed ${event.seed}  resumed after step ${event.step}`,
          );
          if (event.estimate !== undefined) print(colors.dim(event.estimate));
          for (const note of event.notes ?? []) print(note);
          return;
        case "step-start":
          if (event.step === firstStep + 1) startedAt = now();
          rollouts = { done: event.ready ?? 0, of: event.rollouts };
          showStep(event.step);
          return;
        case "rollouts-added":
          rollouts.of += event.rollouts;
          showStep(event.step);
          return;
        case "rollout-end":
          if (event.isValidation) {
            showValidation(event.reward);
            return;
          }
          rollouts.done++;
          showStep(event.step);
          return;
        case "step-end":
          onStepEnd(event.step, event.metrics);
          return;
        case "validation-end":
          validation = { done: 0, of: validation.done, rewards: 0, startedAt: now() };
          if (isQuiet) return;
          print(
            colors.cyan(
              `validation after step ${event.step}: reward ${show(event.metrics["val/reward/mean"], 3)}  pass ${percent(event.metrics["val/pass@1"])}  episodes ${event.metrics["val/episodes"] ?? 0}  failed ${event.metrics["val/failed"] ?? 0}`,
            ),
          );
          return;
        case "checkpoint-save":
          if (!isQuiet) print(colors.dim(`saved ${event.path}`));
          return;
        case "warning":
          live.warn(event.message);
          return;
        case "health":
          print(formatFinding(event.finding, colors, stream.columns));
          return;
        case "notice":
          if (!isQuiet) print(colors.dim(wrapText(safeText(event.message), stream.columns)));
          return;
        case "config-change":
          if (!isQuiet)
            for (const { option, before, after } of event.changes)
              print(
                colors.dim(
                  `${option} changed from ${JSON.stringify(before)} to ${JSON.stringify(after)}`,
                ),
              );
          return;
        case "evaluator-error":
          if (!isQuiet)
            print(
              `${colors.yellow("evaluator:")} ${safeText(`task ${event.taskId}: ${event.error.message}`)}`,
            );
          return;
        case "run-end":
          if (event.message === null) return;
          if (event.status === "untrained") live.warn(event.message);
          if (event.status === "out_of_budget") print(safeText(event.message));
          return;
        case "rollout-retry":
          return;
      }
    },
  };
}
