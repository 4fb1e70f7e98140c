/** One trajectory of a workflow: its calls, and what the workflow says of each. */
import type { AgentConfig, TrajectoryHandle, TrajectoryOptions } from "../core/agent.ts";
import { AgentTrainerError } from "../core/errors.ts";
import type { StepReport, TrajectoryReport } from "../core/report.ts";
import { defaultTrajectoryName } from "../core/trajectory.ts";
import { callModel } from "./model-call.ts";
import type { CallOptions, ModelOutput, WireMessage } from "./model-call.ts";
import { shapeRewards } from "./reward-shaping.ts";
import type { RewardShaping } from "./reward-shaping.ts";

/** What the workflow says of a call. */
export type StepMark = Omit<StepReport, "responseId">;

export class TrajectoryRecorder {
  /** The role. */
  readonly name: string;
  /** For SDKs; calls that they make are told apart by `record`. */
  readonly baseUrl: string;
  readonly apiKey: string;
  /** Stands in place of the sum of the steps' rewards; shaping and discounting leave it as it is. */
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

  /** Asks the model, and remembers the call as the next step. */
  async call(messages: readonly WireMessage[], options?: CallOptions): Promise<ModelOutput> {
    const output = await callModel(this.#config, this, messages, options);
    // What came back is the first choice, however many were asked for.
    this.record({ responseId: output.responseId, choice: 0 });
    return output;
  }

  /** Adds a call that an SDK made through `baseUrl`. */
  record(step: StepReport): void {
    this.#steps.push(step);
  }

  /** Says something of the last call: its reward, what was done with it, whether it was the last. */
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

  /** Calls so far. */
  get length(): number {
    return this.#steps.length;
  }

  /** `null` when there is nothing to tell. */
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
      ...(reward === undefined ? {} : { reward }),
      ...(this.output === undefined ? {} : { output: this.output }),
      ...(this.#train === undefined ? {} : { train: this.#train }),
      metadata: this.metadata,
    };
  }
}
