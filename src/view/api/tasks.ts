/** Tasks over the steps of a run; types only. */
import type { EpisodePhase } from "./episodes.ts";

/** What became of a task: in the upper half of the rewards at the end, at the beginning, both or neither. */
export type TaskFate = "learned" | "always" | "never" | "lost";

/** Rollouts of a task in one column of the map. */
export interface MapCell {
  /** Index among the columns. */
  readonly column: number;
  /** Their mean reward; null where none has one. */
  readonly reward: number | null;
  readonly rollouts: number;
  /** Number of one of the episodes. */
  readonly n: number;
}

export interface MapRow {
  readonly task: string;
  readonly question: string;
  readonly cells: readonly MapCell[];
  /** Mean reward of the first and of the last visits; null where there is none. */
  readonly first: number | null;
  readonly last: number | null;
  /** `last` less `first`; null for fewer than two visits. */
  readonly gain: number | null;
  readonly fate: TaskFate;
  /** Step from which on it is solved; null for all but learned tasks. */
  readonly learnedAt: number | null;
}

/** Rewards by task and step. */
export interface TaskMap {
  readonly phase: EpisodePhase;
  /** Phases that have episodes. */
  readonly phases: readonly EpisodePhase[];
  /** First step of each column. */
  readonly columns: readonly number[];
  readonly stepsPerColumn: number;
  /** The newest step; null without any. */
  readonly lastStep: number | null;
  /** What the colours span. */
  readonly low: number;
  readonly high: number;
  /** Mean over the tasks of each column. */
  readonly mean: readonly (number | null)[];
  /** Largest gain first. */
  readonly rows: readonly MapRow[];
  /** May be more than `rows` has. */
  readonly tasks: number;
  readonly fates: Readonly<Record<TaskFate, number>>;
}

/** One task at the beginning and now. */
export interface ChangedTask {
  readonly task: string;
  readonly question: string;
  readonly before: { readonly n: number; readonly reward: number };
  readonly now: { readonly n: number; readonly reward: number };
}

/** The same tasks at two steps; null where no task was tried twice. */
export type RunChanges = {
  readonly phase: EpisodePhase;
  readonly fromStep: number;
  readonly toStep: number;
  readonly better: number;
  readonly worse: number;
  readonly same: number;
  /** Largest change first. */
  readonly tasks: readonly ChangedTask[];
} | null;
