/** What a sweep is given, and what it returns. */
import type { TrainConfig } from "../../config/train-config.ts";
import type { TrainerEvent } from "../../core/events.ts";
import type { SweepSearch } from "../../runs/sweeps/sweep-plan.ts";
import type { SweepReport } from "../../runs/sweeps/sweep-report.ts";
import type { TrainResult } from "../../trainer/run.ts";

/** What a run of a sweep is started with, in addition to its configuration. */
export interface SweepRunOptions {
  readonly resume: "auto" | false;
  readonly signal: AbortSignal;
  readonly onEvent: (event: TrainerEvent) => void;
}

/** Options of {@link sweep}. */
export interface SweepOptions extends SweepSearch {
  /** Folder of the sweep, in which each run has its folder. */
  readonly folder: string;
  /** Seeds of each point: a number of them, from `trainer.seed` of the configuration on, or a list. @default 1 */
  readonly seeds?: number | readonly number[];
  /**
   * The configuration with further options, `key=value` each, which have to apply last:
   * `(overrides) => loadConfig({ file: "shop.yaml", overrides }).config`.
   */
  readonly config: (overrides: readonly string[]) => TrainConfig;
  /** Makes a run: `(config, run) => new AgentTrainer({ config, ...run }).train()`, or `fineTune({ config, ...run })`. */
  readonly train: (config: TrainConfig, run: SweepRunOptions) => Promise<TrainResult>;
  /**
   * What runs are compared by; higher is better, of a loss lower. @default "val/reward/mean", without validations
   * "reward/mean"; of fine-tuning without rewards "val/loss", without validations "train/loss"
   */
  readonly metric?: string | null;
  /** Minutes that all runs may take together. The run that exceeds them saves its last step and stops. @default no limit */
  readonly minutes?: number | null;
  /** Resumes a sweep: runs that ended are not repeated, one that was stopped resumes. @default false */
  readonly resume?: boolean;
  /** With `resume`: failed runs are tried again. @default false */
  readonly retryFailed?: boolean;
  /** Aborting it ends the sweep: the run saves its last step. */
  readonly signal?: AbortSignal;
  /** Called before each run that is made. */
  readonly onRun?: (run: {
    readonly name: string;
    readonly index: number;
    readonly of: number;
  }) => void;
  /** Called with every event of every run. */
  readonly onEvent?: (event: TrainerEvent) => void;
}

/** The result of {@link sweep}. */
export interface SweepResult extends SweepReport {
  /** `out_of_budget`: `minutes` ended it. */
  readonly status: "completed" | "interrupted" | "out_of_budget";
  /** Path of its folder. */
  readonly folder: string;
  /** On the clock, of all processes. */
  readonly minutes: number;
}
