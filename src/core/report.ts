/**
 * What a flow may say about its own calls: trajectories with rewards, and whole episodes. Calls are
 * named by the id of their response, so nothing is ever matched by position. Plain data.
 */
import type { TerminationReason } from "./trajectory.ts";

/** What the agent did with one captured call. */
export interface StepReport {
  /**
   * Id of the response as the client saw it (`completion.id`, `message.id`). Several reports may name
   * one call, such as one for each of its tool calls: their rewards are summed, the last action is kept.
   */
  readonly responseId: string;
  /**
   * Which choice of a call with n > 1 the agent used, from 0 (`completion.choices[i].index`): that one is
   * trained. @default inferred from later requests and the output; where that is not possible, none is trained
   */
  readonly choice?: number;
  /** 0 is a reward, too. @default none, so that the trajectory's counts where no step has one */
  readonly reward?: number;
  readonly action?: unknown;
  readonly done?: boolean;
  /**
   * What its sampled tokens are trained with, one number for all or one for each; read where
   * `algorithm.use_precomputed_advantage` is on.
   */
  readonly advantage?: number | readonly number[];
}

/**
 * A trajectory as a flow reports it. It refers to the trajectory with its `uid`; else to the one that
 * contains the calls in `steps`; else to the one with its `name`.
 */
export interface TrajectoryReport {
  readonly kind: "trajectory";
  /** The role. */
  readonly name: string;
  readonly uid?: string;
  /** @default the evaluator's reward */
  readonly reward?: number;
  readonly output?: unknown;
  readonly signals?: Readonly<Record<string, number>>;
  readonly metadata?: Readonly<Record<string, unknown>>;
  /** Calls of this trajectory. Those that came through the session's own URL move here. */
  readonly steps?: readonly StepReport[];
  /** Whether to train on it. @default true, unless its handle or the run says otherwise */
  readonly train?: boolean;
}

/** A whole rollout as a flow reports it. */
export interface EpisodeReport {
  readonly kind: "episode";
  readonly trajectories: readonly TrajectoryReport[];
  readonly output?: unknown;
  /** Read only where there is no evaluator. @default derived from the reward, as for a plain number */
  readonly isCorrect?: boolean;
  /** @default "completed" */
  readonly terminationReason?: TerminationReason;
  /** Numbers, averaged into the step's metrics as `episode/{name}`. */
  readonly metrics?: Readonly<Record<string, number>>;
  readonly metadata?: Readonly<Record<string, unknown>>;
}

/**
 * A trajectory as an agent reports it: its reward, its calls, whether to train on it. Marks the
 * object, since a plain one would be taken for the agent's output.
 *
 * @example
 * return [
 *   defineTrajectory({ name: "solver", reward: 1 }),
 *   defineTrajectory({ name: "judge", reward: 0.5, train: false }),
 * ];
 */
export function defineTrajectory(report: Omit<TrajectoryReport, "kind">): TrajectoryReport {
  return { kind: "trajectory", ...report };
}

/**
 * A whole rollout as an agent reports it: several trajectories, an output, metrics.
 *
 * @example
 * return defineEpisode({ trajectories: [defineTrajectory({ name: "solver", reward: 1 })], isCorrect: true });
 */
export function defineEpisode(report: Omit<EpisodeReport, "kind">): EpisodeReport {
  return { kind: "episode", ...report };
}
