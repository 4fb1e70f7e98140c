/**
 * One base model under many adapters: an adapter's factors are written next to the base before each use. Knows tokens
 * and tensors, no HTTP and no sessions.
 */
import type { LoraSpec } from "../../core/backend.ts";
import type { LossSpec, OptimSpec } from "../../core/loss/loss.ts";
import type { PrecisionOption } from "../../core/precision.ts";
import { NumericsError } from "../../core/errors.ts";
import type { Sample, SampleRequest } from "../../core/policy.ts";
import { Arena } from "../../engine/decoder/arena.ts";
import { choosePrecision } from "../../engine/decoder/choose-precision.ts";
import { initialFactors, loadPolicy, type Policy } from "../../engine/decoder/policy.ts";
import { objectiveOf } from "../../engine/training/objective.ts";
import { TrainingPass } from "../../engine/training/training-pass.ts";
import { loraParameters } from "../../engine/model/parameters.ts";
import { Device } from "../../engine/tensor/device.ts";
import { newTensor, type Tensor } from "../../engine/tensor/tensor.ts";
import { batchLimits } from "../../engine/training/memory.ts";
import type { ForwardBackwardOutput, TopTokens } from "../../tinker-api/messages.ts";
import { createFloatTensor } from "../../tinker-api/codec/tensor.ts";
import { OneAfterAnother } from "../../util/one-after-another.ts";
import {
  Adapter,
  loraSpecOf,
  type AdapterSpec,
  type AdapterWeights,
  type GradientCounts,
  type GradientNormalization,
} from "./adapter.ts";
import { makeDatumBatches, type LossRow } from "./datum-batch.ts";
import type { LossRequest, ModelLimits } from "./loss-request.ts";
import { mostLikely } from "./most-likely.ts";
import { shapePolicy, writeAdapter, PinnedSampler } from "./pinned-sampler.ts";
import { UsedCache } from "./used-cache.ts";

export interface BaseModelOptions {
  /** A folder in Hugging Face layout, or a `.gguf` file. */
  readonly path: string;
  readonly threads: number;
  readonly precision: PrecisionOption;
  /** For the activations of one training micro-batch, in MiB. */
  readonly memoryMiB: number;
}

/** @param row its log-probabilities are those of token `row + 1` of the prompt; valid during the call. */
export type VisitLogprobs = (row: number, logprobs: Float32Array) => void;

/** Shapes of adapters, and samplers of them, that stay in memory: the base model's and a few ranks'. */
const shapesKept = 3;

export class BaseModel implements AsyncDisposable {
  readonly #options: BaseModelOptions;
  readonly #base: Policy;
  readonly #arena: Arena;
  /** What training and scoring compute with, one after another; samplers have their own. */
  readonly #turns = new OneAfterAnother();
  readonly #policies = new UsedCache<Policy>(shapesKept);
  readonly #samplers = new UsedCache<PinnedSampler>(shapesKept, (sampler) => sampler.close());

  private constructor(options: BaseModelOptions, base: Policy) {
    this.#options = options;
    this.#base = base;
    this.#arena = new Arena(base.device);
  }

  /** @throws ModelError */
  static async load(options: BaseModelOptions): Promise<BaseModel> {
    const { path, threads } = options;
    const device = new Device({ threads });
    const precision = choosePrecision(options.precision, device);
    const frozen = { device, precision, lora: null, isFrozen: true, seed: 0 };
    return new BaseModel(options, await loadPolicy(path, frozen));
  }

  get limits(): ModelLimits {
    const { vocabSize, contextLength } = this.#base.config;
    return { vocabularySize: vocabSize, contextLength };
  }

  createAdapter(spec: AdapterSpec): Adapter {
    const { base, config, quantization } = this.#base;
    const lora: LoraSpec = loraSpecOf(spec);
    const factors = loraParameters(config, lora);
    const isTrained = (name: string): boolean =>
      name.includes(".mlp.") ? spec.trainMlp : spec.trainAttention;
    return new Adapter(spec, {
      base,
      quantization,
      lora,
      loraParameters: factors,
      trained: factors.filter(({ name }) => isTrained(name)),
      data: new Map(initialFactors(factors, spec.seed)),
    });
  }

  /** The base with these factors, for itself while `work` runs. */
  #with<T>(weights: AdapterWeights, work: (policy: Policy) => Promise<T>): Promise<T> {
    return this.#turns.run(() =>
      this.#policies.use(
        shapeOf(weights),
        () => shapePolicy(this.#base, weights),
        async (policy) => {
          await writeAdapter(policy, weights);
          return work(policy);
        },
      ),
    );
  }

  /**
   * Log-probabilities and the summed loss; with `backward` also adds the gradient to the adapter's.
   * @throws NumericsError when the loss or a gradient is not finite; nothing was added then.
   */
  forwardBackward(
    adapter: Adapter,
    request: LossRequest,
    backward: boolean,
  ): Promise<ForwardBackwardOutput> {
    return this.#with(adapter.weights, async ({ weights, device, config, parameters }) => {
      const { loss, rows } = request;
      const objective = objectiveOf(loss);
      const limits = batchLimits(config, this.#options.memoryMiB);
      const logprobs = rows.map(({ tokens }) => new Float32Array(tokens.length));
      const gradients = new Map<string, Tensor>();
      if (backward)
        for (const { name } of adapter.policy.trained) {
          const { rows: outputs, columns } = parameters.get(name)!;
          gradients.set(name, newTensor(device, outputs, columns));
        }
      let total = 0;
      for (const batch of makeDatumBatches(rows, limits)) {
        const pass = new TrainingPass(weights, batch, this.#arena, limits.headChunkRows);
        try {
          const found = (await pass.forward({ keepsActivations: backward })).logprobs;
          const coefficients = new Float64Array(found.length);
          let at = 0;
          for (const { index } of batch.rows) {
            const own = logprobs[index]!;
            own.set(found.subarray(at, at + own.length));
            const value = lossOfDatum(objective, rows[index]!, own);
            coefficients.set(value.coefficients, at);
            total += value.loss;
            at += own.length;
          }
          if (!Number.isFinite(total)) throw new NumericsError("The loss", total);
          if (backward) await pass.backward({ logprobs: coefficients, entropies: null }, gradients);
        } finally {
          pass.end();
        }
      }
      for (const [name, { data }] of gradients)
        if (!data.every(Number.isFinite)) throw new NumericsError(`The gradient of ${name}`, NaN);
      const sums = new Map(Array.from(gradients, ([name, { data }]) => [name, data]));
      if (backward) adapter.accumulate(sums, countTrained(loss, rows));
      return {
        outputType: "TorchLossReturn",
        outputs: logprobs.map((values) => ({ logprobs: createFloatTensor(values) })),
        metrics: { "loss:sum": total },
      };
    });
  }

  /** @throws NumericsError when the gradient is not finite; the weights stay as they were. */
  optimStep(
    adapter: Adapter,
    optim: OptimSpec,
    normalization?: GradientNormalization,
  ): Record<string, number> {
    return { grad_norm: adapter.step(optim, normalization) };
  }

  async sample(weights: AdapterWeights, request: SampleRequest): Promise<readonly Sample[]> {
    return this.#samplers.use(
      shapeOf(weights),
      () => new PinnedSampler(shapePolicy(this.#base, weights)),
      (sampler) => sampler.sample(weights, request),
    );
  }

  /** [prompt] log-probability of each token after those before it; NaN for the first. */
  async scorePrompt(weights: AdapterWeights, prompt: Int32Array): Promise<Float32Array> {
    const scores = new Float32Array(prompt.length).fill(Number.NaN);
    scores.set(await this.#readPrompt(weights, prompt), 1);
    return scores;
  }

  async topPromptTokens(
    weights: AdapterWeights,
    prompt: Int32Array,
    k: number,
  ): Promise<TopTokens[]> {
    const top: TopTokens[] = [null];
    await this.readPrompt(weights, prompt, (_, logprobs) => top.push(mostLikely(logprobs, k)));
    return top;
  }

  /** Visits all log-probabilities for each token of a prompt but the first. */
  async readPrompt(
    weights: AdapterWeights,
    prompt: Int32Array,
    visit: VisitLogprobs,
  ): Promise<void> {
    await this.#readPrompt(weights, prompt, visit);
  }

  /** [prompt - 1] log-probabilities of the tokens after the first. */
  async #readPrompt(
    weights: AdapterWeights,
    prompt: Int32Array,
    visit?: VisitLogprobs,
  ): Promise<Float32Array> {
    if (prompt.length < 2) return new Float32Array(0);
    const row = { tokens: prompt.slice(0, -1), targets: prompt.slice(1) };
    return this.#with(weights, async (policy) => {
      const limits = batchLimits(policy.config, this.#options.memoryMiB);
      const [batch] = makeDatumBatches([row], limits);
      const pass = new TrainingPass(policy.weights, batch!, this.#arena, limits.headChunkRows);
      const onLogits = (first: number, logits: Tensor, logSums: Float32Array): void => {
        for (const [i, logSum] of logSums.entries())
          visit!(
            first + i,
            logits.row(i).map((logit) => logit - logSum),
          );
      };
      try {
        return (await pass.forward(visit === undefined ? {} : { onLogits })).logprobs;
      } finally {
        pass.end();
      }
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#samplers.close();
  }
}

function shapeOf({ rank, alpha }: AdapterWeights): string {
  return `${rank}/${alpha}`;
}

/** Tinker's losses are plain sums. What is outside of a sequence's ratio has no advantage, and no part in the loss. */
function lossOfDatum(
  objective: ReturnType<typeof objectiveOf>,
  { ratioTokens, ...row }: LossRow,
  logprobs: Float32Array,
): { readonly loss: number; readonly coefficients: Float64Array } {
  const inside = [...logprobs.keys()].filter((i) => ratioTokens?.[i] !== 0);
  const pick = (values: Float32Array): Float64Array => Float64Array.from(inside, (i) => values[i]!);
  const value = objective({
    logprobs: pick(logprobs),
    samplingLogprobs: pick(row.samplingLogprobs),
    advantages: pick(row.advantages),
    weights: pick(row.weights),
    referenceLogprobs: null,
    entropies: null,
    factor: 1,
  });
  const coefficients = new Float64Array(logprobs.length);
  for (const [at, i] of inside.entries()) coefficients[i] = value.coefficients[at]!;
  return { loss: value.loss, coefficients };
}

function countTrained({ name }: LossSpec, rows: readonly LossRow[]): GradientCounts {
  const counts = rows.map(
    ({ weights, advantages }) =>
      weights.filter((w, i) => w !== 0 && (name === "cross_entropy" || advantages[i] !== 0)).length,
  );
  return {
    tokens: counts.reduce((sum, count) => sum + count, 0),
    sequences: counts.filter((count) => count > 0).length,
  };
}
