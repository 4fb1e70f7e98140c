/** The list of runs and rounds, and one run over its steps: metrics, findings, cost; types only. */
import type { RunFinding } from "../../core/health.ts";
import type { CurateStage, GateStage, Round, TrainStage } from "../../runs/rounds/round.ts";
import type { IndexState } from "./episodes.ts";

export interface RunEntry {
  /** Position in the command's arguments; names the run in URLs. */
  readonly key: number;
  readonly name: string;
  readonly path: string;
  readonly model: string;
  readonly backend: string;
  readonly status: string;
  /** Why it failed, ended early or learned nothing, or cannot be read; null where there is nothing to say. */
  readonly reason: string | null;
  readonly steps: number;
  readonly totalSteps: number | null;
  readonly firstReward: number | null;
  readonly lastReward: number | null;
  readonly bestValidation: { readonly step: number; readonly value: number } | null;
  /** When its log was last written, in milliseconds since the epoch; null where it has none. */
  readonly updatedAt: number | null;
  /** What is wrong with it now, problems before warnings. */
  readonly findings: readonly Pick<RunFinding, "name" | "severity">[];
  readonly index: IndexState;
}

/** Pieces of feedback from 0 to 1, and their sum. */
export interface FeedbackCount {
  readonly n: number;
  readonly sum: number;
}

/** A round of improvement; what is not done yet is null. */
export interface RoundRow extends Pick<Round, "round" | "status" | "startedAt" | "endedAt"> {
  /** Key of its run; null where that is not viewed. */
  readonly run: number | null;
  readonly curate: CurateStage | null;
  readonly train: TrainStage | null;
  readonly gate: GateStage | null;
  /** Whether what it handed over was the last. */
  readonly isNewest: boolean;
  /** About its model; null without any. */
  readonly feedback: FeedbackCount | null;
}

/** Metrics by name; every list is as long as `steps`. */
export interface MetricTable {
  readonly steps: readonly number[];
  readonly series: Readonly<Record<string, readonly (number | null)[]>>;
}

/** Correlation of two numbers over episodes, with its 95 % interval by Fisher's transformation. */
export interface Correlation {
  readonly r: number;
  readonly low: number;
  readonly high: number;
  readonly episodes: number;
}

/** The reward, its parts and what else is known of episodes, and how they go together. */
export interface RewardParts {
  readonly names: readonly string[];
  readonly episodes: number;
  readonly fromStep: number;
  readonly toStep: number;
  /** [name][name]; null where one of the two never varies. */
  readonly cells: readonly (readonly (Correlation | null)[])[];
}

/** A disease of the run. */
export interface Finding extends RunFinding {
  /** Number of an episode that shows it; null where there is none. */
  readonly example: number | null;
}

export type { ChangedOption } from "../../core/changed-option.ts";

/** What was spent; money is null where no prices are known. */
interface Spent {
  readonly seconds: number;
  readonly tokens: number;
  readonly usd: number | null;
}

/** What the run has cost, and what a point of reward cost, also in a line; null for fewer than two steps. */
export type RunCost =
  | (Spent & {
      readonly text: string;
      /** What the gain is measured by. */
      readonly metric: string;
      readonly gain: number;
      /** Per 0.01 of it; null where nothing was gained. */
      readonly perPoint: Spent | null;
    })
  | null;
