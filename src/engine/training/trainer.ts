/**
 * Gradients and optimizer steps on one policy, from rows with weights and a loss name; it knows nothing of rewards,
 * episodes or how advantages were estimated.
 */
import type { WhichWeights } from "../../core/backend.ts";
import { NumericsError } from "../../core/errors.ts";
import { countTargets } from "../../core/loss/aggregation.ts";
import { checkLossNumbers } from "../../core/loss/check-numbers.ts";
import type { LossSpec, OptimSpec } from "../../core/loss/loss.ts";
import type { TrainingRow } from "../../core/loss/training-row.ts";
import { writeTrained, type Policy } from "../decoder/policy.ts";
import { adamStep, createAdamState, globalNorm, type AdamState } from "../optimizer/adamw.ts";
import type { MomentPrecision } from "../optimizer/moments.ts";
import { NativeAdam } from "../optimizer/native-adam.ts";
import { newTensor, type Tensor } from "../tensor/tensor.ts";
import { CriticLesson } from "./critic-lesson.ts";
import { type PassOptions, RowPasses, sampledOnly } from "./row-passes.ts";
import { UpdateLoss } from "./update-loss.ts";
import { ValueHead } from "./value-head.ts";

export interface TrainerOptions extends PassOptions {
  /** @default "float32" */
  readonly momentPrecision?: MomentPrecision;
}

interface Moments {
  readonly state: AdamState;
  /** Null where moments are of half the size. */
  readonly native: NativeAdam | null;
}

export class PolicyTrainer {
  readonly #policy: Policy;
  readonly #passes: RowPasses;
  readonly #momentPrecision: MomentPrecision;
  #moments: Moments | undefined;
  #gradients: ReadonlyMap<string, Tensor> | undefined;
  #critic: ValueHead | null = null;
  /** What the critic learns from in the next step. */
  #lesson: CriticLesson | null = null;
  #hasGradients = false;

  constructor(policy: Policy, options: TrainerOptions) {
    const { momentPrecision = "float32" } = options;
    this.#policy = policy;
    this.#passes = new RowPasses(policy, options);
    this.#momentPrecision = momentPrecision;
  }

  /** Made when they are needed: what is only sampled from has neither moments nor gradients. */
  get #optimizer(): Moments {
    const { device, parameters, trained } = this.#policy;
    if (this.#moments !== undefined) return this.#moments;
    const precision = this.#momentPrecision;
    const native = precision === "float32" ? new NativeAdam(device, parameters) : null;
    return (this.#moments = {
      native,
      state: native?.state ?? createAdamState(trained, precision),
    });
  }

  get #sums(): ReadonlyMap<string, Tensor> {
    const { device, parameters } = this.#policy;
    return (this.#gradients ??= new Map(
      Array.from(parameters, ([name, { rows, columns }]) => [
        name,
        newTensor(device, rows, columns),
      ]),
    ));
  }

  get adam(): AdamState {
    return this.#optimizer.state;
  }

  /** What gives values: made where it is first asked for. */
  get critic(): ValueHead {
    return (this.#critic ??= new ValueHead(this.#policy.device, this.#policy.config.hiddenSize));
  }

  /** Null where nothing has asked for it. */
  get madeCritic(): ValueHead | null {
    return this.#critic;
  }

  /** Continues with the critic of a checkpoint, or with a new one. */
  restoreCritic(critic: ValueHead | null): void {
    this.#critic = critic;
  }

  /** Runs `work` when all that was begun before has ended: passes share memory, and steps change weights. */
  exclusively<T>(work: () => Promise<T>): Promise<T> {
    return this.#passes.room.turns.run(work);
  }

  /** By parameter; empty when nothing has been accumulated. Valid until the next call. */
  get accumulatedGradients(): ReadonlyMap<string, Float32Array> {
    if (!this.#hasGradients) return new Map();
    return new Map(Array.from(this.#sums, ([name, tensor]) => [name, tensor.data]));
  }

  /**
   * [row][length] log-probabilities; 0 outside the target mask.
   * @throws AgentTrainerError REQUEST_INVALID for a row with ids that the model does not have.
   */
  forward(rows: readonly TrainingRow[], which: WhichWeights = "current"): Promise<Float32Array[]> {
    return this.exclusively(async () => {
      if (which === "current") return this.#passes.perToken(rows, "logprobs");
      return this.#passes.perToken(rows, "logprobs", await this.#passes.reference());
    });
  }

  /**
   * [row][length] entropy in nats of the distribution that each trained token is sampled from, under the weights being
   * trained; 0 outside the target mask.
   * @throws AgentTrainerError REQUEST_INVALID for a row with ids that the model does not have.
   */
  entropies(rows: readonly TrainingRow[]): Promise<Float32Array[]> {
    return this.exclusively(() => this.#passes.perToken(rows, "entropies"));
  }

  /**
   * [row][length] the critic's values of what comes before each trained token; 0 outside the target mask.
   * @throws AgentTrainerError REQUEST_INVALID for a row with ids that the model does not have.
   */
  values(rows: readonly TrainingRow[]): Promise<Float32Array[]> {
    return this.exclusively(() => this.#passes.values(rows, this.critic));
  }

  /**
   * Adds the gradient of the aggregated loss over `rows` to what has been accumulated.
   * @returns `loss`, `tokens`, ratio and KL statistics between current and sampling weights, and what the loss measures
   * (`clip_fraction`, `kl_reference`, `entropy`).
   * @throws NumericsError when the loss is not finite; the accumulated gradient is dropped.
   * @throws ConfigError when a number of the loss is out of bounds.
   * @throws AgentTrainerError REQUEST_INVALID for a row with ids that the model does not have; what has been accumulated
   * is kept.
   */
  forwardBackward(rows: readonly TrainingRow[], loss: LossSpec): Promise<Record<string, number>> {
    return this.exclusively(() => this.#forwardBackward(rows, loss));
  }

  async #forwardBackward(
    rows: readonly TrainingRow[],
    loss: LossSpec,
  ): Promise<Record<string, number>> {
    checkLossNumbers(loss);
    const { critic = null } = loss;
    const lesson = critic && new CriticLesson(critic, rows, loss);
    if (lesson?.spec.isWarmup === true) return this.#takeLesson(lesson, rows, loss);
    const update = new UpdateLoss(rows, loss);
    for (const batch of this.#passes.batches(rows, loss, update.factors)) {
      const reference = await this.#passes.referenceLogprobs(batch, loss);
      const pass = this.#passes.open(batch);
      const found = await pass.forward({ keepsActivations: true, entropies: update.hasEntropy });
      const coefficients = update.coefficients(batch, found, reference);
      const { loss: value } = update.statistics;
      if (!Number.isFinite(value)) {
        pass.end();
        this.#clear();
        throw new NumericsError("The loss", value);
      }
      lesson?.add(pass.states, batch);
      await pass.backward(coefficients, this.#sums);
      this.#hasGradients = true;
    }
    this.#lesson = lesson;
    return update.statistics.summary();
  }

  /** For an update in which only the critic learns. */
  async #takeLesson(
    lesson: CriticLesson,
    rows: readonly TrainingRow[],
    loss: LossSpec,
  ): Promise<Record<string, number>> {
    for (const batch of this.#passes.batches(rows.map(sampledOnly), loss)) {
      const pass = this.#passes.open(batch);
      lesson.add(await pass.forwardStates(), batch);
      pass.end();
    }
    this.#lesson = lesson;
    return { tokens: rows.reduce((sum, row) => sum + countTargets(row), 0) };
  }

  /**
   * What `optimStep` would refuse, without a step.
   * @throws NumericsError when the gradient is not finite, and what `before` throws
   */
  checkStep(before: (metrics: Readonly<Record<string, number>>) => void): Promise<void> {
    return this.exclusively(async () => {
      if (this.#hasGradients) before({ grad_norm: globalNorm(this.accumulatedGradients) });
    });
  }

  /** Nothing has been accumulated. */
  dropGradients(): Promise<void> {
    return this.exclusively(async () => this.#clear());
  }

  #clear(): void {
    for (const tensor of this.#gradients?.values() ?? []) tensor.data.fill(0);
    this.#lesson = null;
    this.#hasGradients = false;
  }

  /**
   * Applies the accumulated gradient and clears it.
   * @param before receives what the step will report; when it throws, the weights stay unchanged.
   * @throws NumericsError when it is not finite; the weights stay unchanged.
   */
  optimStep(
    optim: OptimSpec,
    before?: (metrics: Readonly<Record<string, number>>) => void,
  ): Promise<Record<string, number>> {
    return this.exclusively(() => this.#optimStep(optim, before));
  }

  async #optimStep(
    optim: OptimSpec,
    before: ((metrics: Readonly<Record<string, number>>) => void) | undefined,
  ): Promise<Record<string, number>> {
    const lesson = this.#lesson;
    if (!this.#hasGradients && lesson === null) return { grad_norm: 0 };
    const gradients = this.accumulatedGradients;
    try {
      if (!this.#hasGradients) return await this.#learnValues(lesson!, optim);
      before?.({ grad_norm: globalNorm(gradients) });
      let ofValues: Record<string, number> = {};
      if (lesson !== null) {
        // What would stop the policy's step must do so before the critic has learned.
        globalNorm(gradients);
        ofValues = await this.#learnValues(lesson, optim);
      }
      const { trained, data, weights } = this.#policy;
      const { native, state } = this.#optimizer;
      const norm =
        native === null
          ? adamStep(trained, data, gradients, state, optim)
          : await native.step(trained, this.#sums, optim);
      await writeTrained(this.#policy, weights);
      return { grad_norm: norm, ...ofValues };
    } finally {
      this.#clear();
    }
  }

  async #learnValues(lesson: CriticLesson, optim: OptimSpec): Promise<Record<string, number>> {
    const batch = lesson.batch(this.#policy.device);
    return batch === null ? {} : this.critic.learn(batch, lesson.spec, optim);
  }
}
