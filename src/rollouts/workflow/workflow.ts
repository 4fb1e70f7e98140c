/**
 * Base class of workflows: a rollout written as a class, with trajectories whose steps carry rewards.
 * One instance is one attempt.
 */
import type { AgentConfig, TrajectoryOptions } from "../../core/agent.ts";
import type { TrajectoryReport } from "../../core/report.ts";
import type { Task } from "../../core/task.ts";
import type { RewardShaping } from "./reward-shaping.ts";
import { TrajectoryRecorder } from "./trajectory-recorder.ts";

/** Arguments that every workflow takes in `workflowArgs`, in addition to those of its class. */
export interface WorkflowOptions extends RewardShaping {
  /**
   * Limit for `run` in milliseconds. When it is exceeded, the rollout ends with the reason `timeout`,
   * and what was done so far is scored.
   * @default `workflow.timeout_s`, which fails the attempt instead
   */
  readonly timeoutMs?: number;
}

/**
 * Base class of a rollout written as a class: `run` calls the model through trajectories and marks
 * rewards. One instance is one attempt.
 *
 * @example
 * class Guess extends Workflow<{ tries: number }> {
 *   async run(task: Task<{ question: string; answer: string }>): Promise<string> {
 *     const agent = this.trajectory();
 *     const { content } = await agent.call([{ role: "user", content: task.instruction }]);
 *     agent.mark({ reward: content === task.metadata.answer ? 1 : 0 });
 *     return content;
 *   }
 * }
 *
 * const trainer = new AgentTrainer({ workflowClass: Guess, workflowArgs: { tries: 3 }, ...others });
 */
export abstract class Workflow<Args extends object = object, Metadata = Record<string, unknown>> {
  /** Base URL, key and model for calls, as an agent flow gets them. */
  protected readonly config: AgentConfig;
  /** `workflowArgs` of the trainer. */
  protected readonly args: Readonly<Args & WorkflowOptions>;
  /**
   * Whether the rollout was correct; set it in `run`.
   * @default derived from the mean reward, as a number
   */
  protected isCorrect: boolean | undefined;
  /** Metrics of this rollout, reported as `episode/{name}`. */
  protected readonly metrics: Record<string, number> = {};
  readonly #recorders = new Map<string | undefined, TrajectoryRecorder>();
  readonly #cleanUps: (() => unknown)[] = [];
  #hasEnded = false;

  constructor(config: AgentConfig, args: Args & WorkflowOptions) {
    this.config = config;
    this.args = args;
  }

  /**
   * Runs the rollout. What it returns becomes `episode.output`. A `TerminationEvent` that it throws
   * ends the rollout with that reason and keeps what was done; any other error fails the attempt.
   *
   * @param task The task, with its metadata.
   */
  abstract run(task: Task<Metadata>): unknown;

  /**
   * The trajectory of this name; without a name, that of the agent itself. The same name returns the
   * same trajectory.
   */
  protected trajectory(name?: string, options?: TrajectoryOptions): TrajectoryRecorder {
    const known = this.#recorders.get(name);
    if (known !== undefined) return known;
    const recorder = new TrajectoryRecorder(this.config, name, options);
    this.#recorders.set(name, recorder);
    return recorder;
  }

  /**
   * Registers `cleanUp` to run when the rollout is over, however it ended; runs it at once if it
   * already is.
   */
  protected onEnd(cleanUp: () => unknown): void {
    if (this.#hasEnded) void this.#quietly(cleanUp);
    else this.#cleanUps.push(cleanUp);
  }

  /** Used by the runner: the result of the rollout. */
  summarise(): {
    readonly reports: readonly TrajectoryReport[];
    readonly isCorrect: boolean | undefined;
    readonly metrics: Readonly<Record<string, number>>;
  } {
    const shaping = this.args as RewardShaping;
    const reports = Array.from(this.#recorders.values(), (own) => own.report(shaping));
    return {
      reports: reports.filter((report) => report !== null),
      isCorrect: this.isCorrect,
      metrics: this.metrics,
    };
  }

  /**
   * Used by the runner: runs the functions registered by `onEnd`, the last first. Resolves with the
   * number that failed.
   */
  async end(): Promise<number> {
    this.#hasEnded = true;
    let failed = 0;
    for (const cleanUp of this.#cleanUps.splice(0).toReversed()) {
      // One after the other, since a later resource may rest on an earlier one.
      // oxlint-disable-next-line no-await-in-loop
      if (!(await this.#quietly(cleanUp))) failed++;
    }
    return failed;
  }

  async #quietly(cleanUp: () => unknown): Promise<boolean> {
    try {
      await cleanUp();
      return true;
    } catch {
      return false;
    }
  }
}

/** A class of workflows, whatever its arguments. */
export type WorkflowClass<Metadata = Record<string, unknown>> = new (
  config: AgentConfig,
  args: never,
) => Workflow<object, Metadata>;
