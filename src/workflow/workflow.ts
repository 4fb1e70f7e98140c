/**
 * Base of workflows: a rollout written as a class, with trajectories whose steps carry rewards. One
 * object is one attempt. Knows nothing of sessions, retries or training.
 */
import type { AgentConfig, TrajectoryOptions } from "../core/agent.ts";
import type { TrajectoryReport } from "../core/report.ts";
import type { Task } from "../core/task.ts";
import type { RewardShaping } from "./reward-shaping.ts";
import { TrajectoryRecorder } from "./trajectory-recorder.ts";

/** What every workflow takes in `workflowArgs`, beside what its own class asks for. */
export interface WorkflowOptions extends RewardShaping {
  /**
   * Milliseconds for `run`. At the end of it the rollout ends with the reason `timeout`, and what was
   * done so far is scored. @default `workflow.timeout_s`, which fails the attempt instead
   */
  readonly timeoutMs?: number;
}

/**
 * @example
 * class Guess extends Workflow<{ tries: number }> {
 *   async run(task: Task): Promise<string> {
 *     const agent = this.trajectory();
 *     const answer = await agent.call([{ role: "user", content: task.instruction }]);
 *     agent.mark({ reward: answer.content === task.metadata["answer"] ? 1 : 0 });
 *     return answer.content;
 *   }
 * }
 */
export abstract class Workflow<Args extends object = object, Metadata = Record<string, unknown>> {
  protected readonly config: AgentConfig;
  protected readonly args: Readonly<Args & WorkflowOptions>;
  /** Set it to say whether the rollout was right. @default by the mean reward, as a number */
  protected isCorrect: boolean | undefined;
  /** Numbers of this rollout, for the metrics `episode/{name}`. */
  protected readonly metrics: Record<string, number> = {};
  readonly #recorders = new Map<string | undefined, TrajectoryRecorder>();
  readonly #cleanUps: (() => unknown)[] = [];
  #hasEnded = false;

  constructor(config: AgentConfig, args: Args & WorkflowOptions) {
    this.config = config;
    this.args = args;
  }

  /**
   * The rollout. What it returns becomes `episode.output`; a `TerminationEvent` that it throws ends it
   * with that reason and keeps what was done, anything else fails the attempt.
   */
  abstract run(task: Task<Metadata>): unknown;

  /** The trajectory of this name; without one, that of the agent itself. Same name, same trajectory. */
  protected trajectory(name?: string, options?: TrajectoryOptions): TrajectoryRecorder {
    const known = this.#recorders.get(name);
    if (known !== undefined) return known;
    const recorder = new TrajectoryRecorder(this.config, name, options);
    this.#recorders.set(name, recorder);
    return recorder;
  }

  /** Runs `cleanUp` when the rollout is over, however it ended; at once when it already is. */
  protected onEnd(cleanUp: () => unknown): void {
    if (this.#hasEnded) void this.#quietly(cleanUp);
    else this.#cleanUps.push(cleanUp);
  }

  /** For the runner: what the rollout came to. */
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

  /** For the runner: runs what `onEnd` was given, the last first. Resolves with how many failed. */
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
