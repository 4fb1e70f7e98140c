/**
 * Gradients and optimizer steps on one policy, from rows with weights and a loss name; it knows
 * nothing of rewards, episodes or how advantages were estimated.
 */
import { NumericsError } from "../../core/errors.ts";
import { defaultLoss, type LossSpec, type OptimSpec } from "../../core/loss/loss.ts";
import type { TrainingRow } from "../../core/loss/training-row.ts";
import type { HeadQuantity } from "../graph/chunked-head.ts";
import { objectiveSums, type ObjectiveSum } from "../loss/objective.ts";
import { lossParameterTensors } from "../loss/parameters.ts";
import type { PolicyModel } from "../model/policy-model.ts";
import { adamStep, createAdamState, globalNorm, type AdamState } from "../optimizer/adamw.ts";
import type { MomentPrecision } from "../optimizer/moments.ts";
import type { Tensor } from "../runtime.ts";
import { checkRowIds } from "../token-ids.ts";
import { LogitRuleCompiler } from "../logit-rules/compiler.ts";
import { makeMicroBatches, type MicroBatch } from "./batch.ts";
import type { BatchLimits } from "./batch-limits.ts";
import { LoadedGraphs, type LoadedGraphsOptions, type WhichWeights } from "./loaded-graphs.ts";
import { batchLimits } from "./memory.ts";
import { RatioStatistics } from "./ratio-statistics.ts";
import { findRowBiases } from "./row-biases.ts";
import { gradientName, sumName } from "./training-graph.ts";

export interface PolicyTrainerOptions extends LoadedGraphsOptions {
  /** Memory for the activations of one micro-batch, by estimate; at least one row is processed at a time. */
  readonly memoryMiB: number;
  /** @default "float32" */
  readonly momentPrecision?: MomentPrecision;
  /** Compiles rules of rows. @default one without a vocabulary, which knows no grammars */
  readonly rules?: LogitRuleCompiler;
}

export class PolicyTrainer {
  readonly #policy: PolicyModel;
  readonly #graphs: LoadedGraphs;
  readonly #gradients: Map<string, Float32Array>;
  readonly adam: AdamState;
  readonly #limits: BatchLimits;
  readonly #rules: LogitRuleCompiler;
  #accumulated = 0;

  constructor(policy: PolicyModel, options: PolicyTrainerOptions) {
    this.#policy = policy;
    this.#graphs = new LoadedGraphs(policy, options);
    this.#rules = options.rules ?? new LogitRuleCompiler(policy.config.vocabSize);
    this.#limits = batchLimits(policy.config, options.memoryMiB);
    this.adam = createAdamState(policy.trained, options.momentPrecision);
    this.#gradients = new Map(
      policy.trained.map(({ name }) => [name, new Float32Array(policy.data.get(name)!.length)]),
    );
  }

  /** By parameter; empty when nothing has been accumulated. Valid until the next call. */
  get accumulatedGradients(): ReadonlyMap<string, Float32Array> {
    return this.#accumulated === 0 ? new Map() : this.#gradients;
  }

  /**
   * [row][length] log-probabilities; 0 outside the target mask.
   * @throws AgentTrainerError REQUEST_INVALID for a row with ids that the model does not have.
   */
  async forward(
    rows: readonly TrainingRow[],
    which: WhichWeights = "current",
  ): Promise<Float32Array[]> {
    return this.#perToken(rows, which, "logprob");
  }

  /**
   * [row][length] entropy in nats of the distribution that each trained token is sampled from, under the
   * weights being trained; 0 outside the target mask.
   * @throws AgentTrainerError REQUEST_INVALID for a row with ids that the model does not have.
   */
  async entropies(rows: readonly TrainingRow[]): Promise<Float32Array[]> {
    return this.#perToken(rows, "current", "entropy");
  }

  async #perToken(
    rows: readonly TrainingRow[],
    which: WhichWeights,
    quantity: HeadQuantity,
  ): Promise<Float32Array[]> {
    checkRowIds(rows, this.#policy.config.vocabSize);
    const result = rows.map((row) => new Float32Array(row.tokens.length));
    const biases = findRowBiases(rows, this.#rules);
    for (const batch of makeMicroBatches(rows, defaultLoss, this.#limits, biases)) {
      const run = await this.#graphs.forward(which, shapeOf(batch), quantity);
      const { logprobs, entropies } = await run(modelInputs(batch));
      const values = quantity === "logprob" ? logprobs : entropies;
      for (const [i, { row, position }] of batch.origins.entries())
        result[row]![position] = values![i]!;
    }
    return result;
  }

  async #lossInputs(batch: MicroBatch, loss: LossSpec): Promise<Record<string, Tensor>> {
    const inputs = { ...modelInputs(batch), ...batch.lossInputs, ...lossParameterTensors(loss) };
    if (loss.kl === undefined || loss.kl === null) return inputs;
    const run = await this.#graphs.forward("reference", shapeOf(batch));
    const { logprobs } = await run(modelInputs(batch));
    const reference = { data: logprobs!, shape: [batch.trainedTokens] };
    return { ...inputs, reference_logprobs: reference };
  }

  /**
   * Adds the gradient of the aggregated loss over `rows` to what has been accumulated.
   * @returns `loss`, `tokens`, ratio and KL statistics between current and sampling weights, and what
   * the loss measures (`clip_fraction`, `kl_reference`, `entropy`).
   * @throws NumericsError when the loss is not finite; the accumulated gradient is dropped.
   * @throws ConfigError when a number of the loss is out of bounds.
   * @throws AgentTrainerError REQUEST_INVALID for a row with ids that the model does not have; what has
   * been accumulated is kept.
   */
  async forwardBackward(
    rows: readonly TrainingRow[],
    loss: LossSpec,
  ): Promise<Record<string, number>> {
    checkRowIds(rows, this.#policy.config.vocabSize);
    const statistics = new RatioStatistics(loss);
    let total = 0;
    const biases = findRowBiases(rows, this.#rules);
    for (const batch of makeMicroBatches(rows, loss, this.#limits, biases)) {
      const { checkpointed } = batch;
      const run = await this.#graphs.gradient(loss, { checkpointed, ...shapeOf(batch) });
      const outputs = await run(await this.#lossInputs(batch, loss));
      const value = outputs["loss"]![0]!;
      if (!Number.isFinite(value)) {
        this.#clear();
        throw new NumericsError("The loss", value);
      }
      total += value;
      this.#accumulate(outputs);
      statistics.add(batch, outputs["logprobs"]!, sumsOf(outputs));
    }
    return { loss: total, ...statistics.summary() };
  }

  #accumulate(outputs: Readonly<Record<string, Float32Array>>): void {
    for (const [name, sum] of this.#gradients) {
      const gradient = outputs[gradientName(name)]!;
      if (this.#accumulated === 0) sum.set(gradient);
      else for (let i = 0; i < sum.length; i++) sum[i]! += gradient[i]!;
    }
    this.#accumulated += 1;
  }

  #clear(): void {
    this.#accumulated = 0;
  }

  /**
   * Applies the accumulated gradient and clears it.
   * @param before receives what the step will report; when it throws, the weights stay unchanged.
   * @throws NumericsError when it is not finite; the weights stay unchanged.
   */
  optimStep(
    optim: OptimSpec,
    before?: (metrics: Readonly<Record<string, number>>) => void,
  ): Record<string, number> {
    if (this.#accumulated === 0) return { grad_norm: 0 };
    this.#clear();
    before?.({ grad_norm: globalNorm(this.#gradients) });
    const norm = adamStep(
      this.#policy.trained,
      this.#policy.data,
      this.#gradients,
      this.adam,
      optim,
    );
    return { grad_norm: norm };
  }

  close(): Promise<void> {
    return this.#graphs.close();
  }
}

/** Which inputs its graph has. */
function shapeOf({ inverseTemperatures, biases }: MicroBatch): {
  readonly tempered: boolean;
  readonly biased: boolean;
} {
  return { tempered: inverseTemperatures !== null, biased: biases !== null };
}

function modelInputs(batch: MicroBatch): Readonly<Record<string, Tensor>> {
  const { modelInputs: inputs, inverseTemperatures, biases } = batch;
  return {
    ...inputs,
    ...(inverseTemperatures === null ? {} : { inverse_temperatures: inverseTemperatures }),
    ...biases,
  };
}

function sumsOf(
  outputs: Readonly<Record<string, Float32Array>>,
): Partial<Record<ObjectiveSum, number>> {
  return Object.fromEntries(
    objectiveSums.flatMap((name) => {
      const value = outputs[sumName(name)];
      return value === undefined ? [] : [[name, value[0]!]];
    }),
  );
}
