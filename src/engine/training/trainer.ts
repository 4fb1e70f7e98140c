/**
 * Gradients and optimizer steps on one policy, from rows with weights and a loss name; it knows nothing of rewards,
 * episodes or how advantages were estimated.
 */
import { countTargets, rowFactors } from "../../core/loss/aggregation.ts";
import type { WhichWeights } from "../../core/backend.ts";
import { ConfigError, NumericsError } from "../../core/errors.ts";
import { defaultLoss, type LossSpec, type OptimSpec } from "../../core/loss/loss.ts";
import { countObserved, observationWeight } from "../../core/loss/observations.ts";
import type { TrainingRow } from "../../core/loss/training-row.ts";
import { OneAfterAnother } from "../../util/one-after-another.ts";
import { LogitRuleCompiler } from "../logit-rules/compiler.ts";
import { checkLossNumbers } from "../../core/loss/check-numbers.ts";
import { adamStep, createAdamState, globalNorm, type AdamState } from "../optimizer/adamw.ts";
import type { MomentPrecision } from "../optimizer/moments.ts";
import { NativeAdam } from "../optimizer/native-adam.ts";
import type { Device } from "../tensor/device.ts";
import { newTensor, type Tensor } from "../tensor/tensor.ts";
import { checkRowIds } from "../token-ids.ts";
import type { BatchLimits } from "./batch-limits.ts";
import { batchLimits } from "./memory.ts";
import { biasesOf } from "./row-biases.ts";
import { Arena } from "../decoder/arena.ts";
import { sharedDecoder, writeTrained, type Policy } from "../decoder/policy.ts";
import type { DecoderWeights } from "../decoder/weights.ts";
import { makeMicroBatches, type MicroBatch, type RowBiases } from "./micro-batch.ts";
import { objectiveOf } from "./objective.ts";
import { TrainingPass } from "./training-pass.ts";
import { UpdateStatistics } from "./update-statistics.ts";
import { WeightAverage } from "./weight-average.ts";
import { CriticLesson } from "./critic-lesson.ts";
import { ValueHead } from "./value-head.ts";

export interface TrainerOptions {
  /** Memory for the activations of one micro-batch, by estimate; at least one row is processed at a time. */
  readonly memoryMiB: number;
  /** @default "float32" */
  readonly momentPrecision?: MomentPrecision;
  /** Compiles rules of rows. @default one without a vocabulary, which knows no grammars */
  readonly rules?: LogitRuleCompiler;
  /** What it computes in. @default its own */
  readonly room?: TrainingRoom;
  /** Keeps an average of what is trained; each step leaves this share of it. @default none */
  readonly averageDecay?: number;
  /** The initial weights, for a policy whose every weight is trained. @default a KL penalty is refused */
  readonly loadReference?: () => Promise<DecoderWeights>;
}

/** Memory of passes, for one at a time: trainers of adapters on one base share it. */
export class TrainingRoom {
  readonly arena: Arena;
  readonly turns: OneAfterAnother = new OneAfterAnother();

  constructor(device: Device) {
    this.arena = new Arena(device);
  }
}

interface Moments {
  readonly state: AdamState;
  /** Null where moments are of half the size. */
  readonly native: NativeAdam | null;
}

export class PolicyTrainer {
  readonly #policy: Policy;
  readonly #options: TrainerOptions;
  readonly #limits: BatchLimits;
  readonly #rules: LogitRuleCompiler;
  readonly #room: TrainingRoom;
  readonly #average: WeightAverage | null;
  #moments: Moments | undefined;
  #gradients: ReadonlyMap<string, Tensor> | undefined;
  #reference: Promise<DecoderWeights> | undefined;
  #critic: ValueHead | null = null;
  /** What the critic learns from in the next step. */
  #lesson: CriticLesson | null = null;
  #hasGradients = false;

  constructor(policy: Policy, options: TrainerOptions) {
    this.#policy = policy;
    this.#options = options;
    this.#limits = batchLimits(policy.config, options.memoryMiB);
    this.#rules = options.rules ?? new LogitRuleCompiler(policy.config.vocabSize);
    this.#room = options.room ?? new TrainingRoom(policy.device);
    const { averageDecay } = options;
    this.#average = averageDecay === undefined ? null : new WeightAverage(policy, averageDecay);
  }

  /** Made when they are needed: what is only sampled from has neither moments nor gradients. */
  get #optimizer(): Moments {
    const { device, parameters, trained } = this.#policy;
    const { momentPrecision: precision = "float32" } = this.#options;
    if (this.#moments !== undefined) return this.#moments;
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

  /** The averaged weights by name; null where none are kept. */
  get average(): ReadonlyMap<string, Float32Array> | null {
    return this.#average?.data ?? null;
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
    return this.#room.turns.run(work);
  }

  /** By parameter; empty when nothing has been accumulated. Valid until the next call. */
  get accumulatedGradients(): ReadonlyMap<string, Float32Array> {
    if (!this.#hasGradients) return new Map();
    return new Map(Array.from(this.#sums, ([name, tensor]) => [name, tensor.data]));
  }

  /**
   * [row][length] log-probabilities; 0 outside the target mask.
   * @throws AgentTrainerError REQUEST_INVALID for a row with ids that the model does not have.
   * @throws ConfigError for an average where none is kept.
   */
  forward(rows: readonly TrainingRow[], which: WhichWeights = "current"): Promise<Float32Array[]> {
    return this.exclusively(async () => {
      const { weights } = this.#policy;
      if (which === "current") return this.#perToken(rows, weights, "logprobs");
      if (which === "reference")
        return this.#perToken(rows, await this.#referenceWeights(), "logprobs");
      if (this.#average === null) throw noAverage();
      return this.#average.during(() => this.#perToken(rows, weights, "logprobs"));
    });
  }

  /**
   * [row][length] entropy in nats of the distribution that each trained token is sampled from, under the weights being
   * trained; 0 outside the target mask.
   * @throws AgentTrainerError REQUEST_INVALID for a row with ids that the model does not have.
   */
  entropies(rows: readonly TrainingRow[]): Promise<Float32Array[]> {
    return this.exclusively(() => this.#perToken(rows, this.#policy.weights, "entropies"));
  }

  /**
   * [row][length] the critic's values of what comes before each trained token; 0 outside the target mask.
   * @throws AgentTrainerError REQUEST_INVALID for a row with ids that the model does not have.
   */
  values(rows: readonly TrainingRow[]): Promise<Float32Array[]> {
    return this.exclusively(async () => {
      const result = rows.map((row) => new Float32Array(row.tokens.length));
      for (const batch of this.#batches(rows.map(sampledOnly), defaultLoss)) {
        const pass = this.#pass(batch);
        const values = await this.critic.values(await pass.forwardStates());
        pass.end();
        let at = 0;
        for (const { index, positions } of batch.rows)
          for (const position of positions) result[index]![position] = values[at++]!;
      }
      return result;
    });
  }

  async #perToken(
    rows: readonly TrainingRow[],
    weights: DecoderWeights,
    quantity: "logprobs" | "entropies",
  ): Promise<Float32Array[]> {
    const result = rows.map((row) => new Float32Array(row.tokens.length));
    for (const batch of this.#batches(rows.map(sampledOnly), defaultLoss)) {
      const pass = this.#pass(batch, weights);
      const found = await pass.forward({ entropies: quantity === "entropies" });
      pass.end();
      const values = found[quantity]!;
      let at = 0;
      for (const { index, positions } of batch.rows)
        for (const position of positions) result[index]![position] = values[at++]!;
    }
    return result;
  }

  #batches(
    rows: readonly TrainingRow[],
    { aggregation, aggregationLength }: LossSpec,
    factors = rowFactors(rows, aggregation, aggregationLength),
  ): readonly MicroBatch[] {
    checkRowIds(rows, this.#policy.config.vocabSize);
    const biases: RowBiases | null = rows.every((row) => row.rules === undefined)
      ? null
      : (index) => biasesOf(rows[index]!, this.#rules);
    return makeMicroBatches(rows, factors, this.#limits, biases);
  }

  #pass(batch: MicroBatch, weights: DecoderWeights = this.#policy.weights): TrainingPass {
    return new TrainingPass(weights, batch, this.#room.arena, this.#limits.headChunkRows);
  }

  #referenceWeights(): Promise<DecoderWeights> {
    this.#reference ??= referenceOf(this.#policy, this.#options.loadReference);
    return this.#reference;
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
    const factors = rowFactors(rows, loss.aggregation, loss.aggregationLength);
    const objective = objectiveOf(loss);
    const hasEntropy = (loss.entropyCoef ?? 0) !== 0;
    const statistics = new UpdateStatistics(loss);
    const observed = Math.max(1, countObserved(rows));
    for (const batch of this.#batches(rows, loss, factors)) {
      const reference = await this.#referenceLogprobs(batch, loss);
      const pass = this.#pass(batch);
      const found = await pass.forward({ keepsActivations: true, entropies: hasEntropy });
      const logprobs = new Float64Array(found.logprobs.length);
      const entropies = hasEntropy ? new Float64Array(logprobs.length) : null;
      let at = 0;
      for (const { index, positions } of batch.rows) {
        const row = rows[index]!;
        const end = at + positions.length;
        /** Places among the pass's tokens of those that were sampled. */
        const places = Int32Array.from(positions.keys(), (k) => at + k).filter(
          (place) => row.targetMask[positions[place - at]!] === 1,
        );
        const pick = (values: ArrayLike<number>): Float64Array =>
          Float64Array.from(places, (place) => values[positions[place - at]!]!);
        const take = (values: ArrayLike<number>): Float64Array =>
          Float64Array.from(places, (place) => values[place]!);
        const own = take(found.logprobs);
        const value = objective({
          logprobs: own,
          samplingLogprobs: pick(row.samplingLogprobs),
          advantages: pick(row.advantages),
          weights: row.weights === undefined ? own.map(() => 1) : pick(row.weights),
          referenceLogprobs: reference && take(reference),
          entropies: found.entropies && take(found.entropies),
          factor: factors[index]!,
        });
        for (const [k, place] of places.entries()) {
          logprobs[place] = value.coefficients[k]!;
          if (entropies !== null) entropies[place] = -factors[index]! * loss.entropyCoef!;
        }
        statistics.add(value, own, pick(row.samplingLogprobs));
        for (const [k, position] of positions.entries()) {
          const weight = observationWeight(row, position) / observed;
          if (row.targetMask[position] === 1 || weight === 0) continue;
          logprobs[at + k] = -weight;
          statistics.observe(weight, found.logprobs[at + k]!);
        }
        at = end;
      }
      if (!Number.isFinite(statistics.loss)) {
        pass.end();
        this.#clear();
        throw new NumericsError("The loss", statistics.loss);
      }
      lesson?.add(pass.states, batch);
      await pass.backward({ logprobs, entropies }, this.#sums);
      this.#hasGradients = true;
    }
    this.#lesson = lesson;
    return statistics.summary();
  }

  /** For an update in which only the critic learns. */
  async #takeLesson(
    lesson: CriticLesson,
    rows: readonly TrainingRow[],
    loss: LossSpec,
  ): Promise<Record<string, number>> {
    for (const batch of this.#batches(rows.map(sampledOnly), loss)) {
      const pass = this.#pass(batch);
      lesson.add(await pass.forwardStates(), batch);
      pass.end();
    }
    this.#lesson = lesson;
    return { tokens: rows.reduce((sum, row) => sum + countTargets(row), 0) };
  }

  async #referenceLogprobs(batch: MicroBatch, loss: LossSpec): Promise<Float32Array | null> {
    if (loss.kl === undefined || loss.kl === null) return null;
    const pass = this.#pass(batch, await this.#referenceWeights());
    const { logprobs } = await pass.forward({});
    pass.end();
    return logprobs;
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
      this.#average?.add();
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

/** A row without what is observed; the critic's columns are those of the row itself. */
function sampledOnly(row: TrainingRow): TrainingRow {
  const { observationWeights: _, ...sampled } = row;
  return sampled;
}

function noAverage(): ConfigError {
  return new ConfigError({
    message: "Log-probabilities of averaged weights are asked for, but no average is kept.",
    hint: "Start the backend with averageDecay.",
  });
}

/** A model without its adapter is the reference; without an adapter the initial weights are needed. */
async function referenceOf(
  policy: Policy,
  load: TrainerOptions["loadReference"],
): Promise<DecoderWeights> {
  if (policy.lora !== null) return sharedDecoder(policy, null);
  if (load !== undefined) return load();
  throw new ConfigError({
    message:
      "A KL penalty needs a reference, but every weight is trained and no model folder is known.",
    hint: "Train a LoRA adapter, or give the engine the folder of the model.",
  });
}
