/** One trajectory of a workflow: its calls, and what the workflow reports about each. */
import type { AgentConfig, TrajectoryHandle, TrajectoryOptions } from "../../core/agent.ts";
import { AgentTrainerError } from "../../core/errors.ts";
import type { StepReport, TrajectoryReport } from "../../core/report.ts";
import { defaultTrajectoryName } from "../../core/trajectory.ts";
import { defined } from "../../util/defined.ts";
import {
  callModel,
  type ModelCallOptions,
  type ModelOutput,
  type WireMessage,
} from "./model-call.ts";
import { shapeRewards, type RewardShaping } from "./reward-shaping.ts";

/** What the workflow reports about a call. */
export type StepMark = Omit<StepReport, "responseId">;

/** One trajectory of a workflow: its calls, and the reward and action of each. */
export class TrajectoryRecorder {
  /** Name of the trajectory: its role. */
  readonly name: string;
  /** Base URL for SDKs; calls that they make are assigned to steps by `record`. */
  readonly baseUrl: string;
  readonly apiKey: string;
  /** The trajectory's reward. If set, it replaces the sum of the steps' rewards, without shaping. */
  reward: number | undefined;
  output: unknown;
  readonly metadata: Record<string, unknown> = {};
  readonly #config: AgentConfig;
  readonly #handle: TrajectoryHandle | null;
  readonly #train: boolean | undefined;
  readonly #steps: StepReport[] = [];

  /** Without a name, calls go through the session's own URL, as those of a plain flow do. */
  constructor(config: AgentConfig, name: string | undefined, options: TrajectoryOptions = {}) {
    this.#config = config;
    this.#handle = name === undefined ? null : config.trajectory(name, options);
    this.#train = options.train;
    this.name = options.role ?? name ?? defaultTrajectoryName;
    this.baseUrl = this.#handle?.baseUrl ?? config.baseUrl;
    this.apiKey = this.#handle?.apiKey ?? config.apiKey;
  }

  /**
   * Calls the model and records the call as the next step.
   *
   * @param messages The conversation so far.
   * @param options Further fields of the request, such as `tools`.
   * @throws AgentTrainerError (`ROLLOUT_FAILED`) when the server responds with an error.
   */
  async call(messages: readonly WireMessage[], options?: ModelCallOptions): Promise<ModelOutput> {
    const output = await callModel(this.#config, this, messages, options);
    // The output is the first choice, however many were requested.
    this.record({ responseId: output.responseId, choice: 0 });
    return output;
  }

  /** Adds a call that an SDK made through `baseUrl`. */
  record(step: StepReport): void {
    this.#steps.push(step);
  }

  /** Reports on the last call: its reward, its action, whether it was the last one. */
  mark(mark: StepMark): void {
    const last = this.#steps.at(-1);
    if (last === undefined) {
      throw new AgentTrainerError({
        code: "ROLLOUT_FAILED",
        message: `The workflow marked a step of "${this.name}" before there was any call.`,
        hint: "Call the model first, or set the trajectory's reward.",
      });
    }
    this.#steps[this.#steps.length - 1] = { ...last, ...mark };
  }

  /** Number of calls so far. */
  get length(): number {
    return this.#steps.length;
  }

  /** `null` when there is nothing to report. */
  report(shaping: RewardShaping): TrajectoryReport | null {
    const isRewarded = this.#steps.some((step) => step.reward !== undefined);
    if (this.#steps.length === 0 && this.reward === undefined) return null;
    const rewards = this.#steps.map((step) => step.reward ?? 0);
    const shaped = shapeRewards(rewards, shaping);
    const reward = this.reward ?? (isRewarded ? shaped.total : undefined);
    const steps = this.#steps.map((step, i) =>
      isRewarded ? Object.assign({}, step, { reward: shaped.steps[i] }) : step,
    );
    return {
      kind: "trajectory",
      name: this.name,
      steps,
      ...(this.#handle === null ? {} : { uid: this.#handle.uid }),
      ...defined({ reward, output: this.output, train: this.#train }),
      metadata: this.metadata,
    };
  }
}
