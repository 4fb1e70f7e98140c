/**
 * One base model under many adapters. Graphs depend on an adapter's shape alone, so adapters of equal
 * shape share them; weights are fed at every run. Knows tokens and tensors, no HTTP and no sessions.
 */
import type { LossSpec, OptimSpec } from "../../core/loss/loss.ts";
import { NumericsError } from "../../core/errors.ts";
import type { Sample, SampleRequest } from "../../core/policy.ts";
import { lossParameterTensors } from "../../engine/loss/parameters.ts";
import { objectiveKey } from "../../engine/loss/objective.ts";
import {
  feedParameters,
  loadPolicyModel,
  withNewAdapter,
  type PolicyModel,
} from "../../engine/model/policy-model.ts";
import { createSession, type Session } from "../../engine/runtime.ts";
import { batchLimits } from "../../engine/training/memory.ts";
import {
  buildTrainingGraph,
  gradientName,
  type TrainingGraphOptions,
} from "../../engine/training/training-graph.ts";
import type { ForwardBackwardOutput, TopTokens } from "../../tinker-api/messages.ts";
import { createFloatTensor } from "../../tinker-api/codec/tensor.ts";
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
import { PinnedSampler } from "./pinned-sampler.ts";
import { mostLikely, PromptScorer, type VisitLogprobs } from "./prompt-scorer.ts";
import { SessionCache } from "./session-cache.ts";

export interface BaseModelOptions {
  /** A folder in Hugging Face layout, or a `.gguf` file. */
  readonly path: string;
  /** Threads inside one operation. */
  readonly threads: number;
  /** For the activations of one training micro-batch, in MiB. */
  readonly memoryMiB: number;
}

interface LoadedGraph {
  readonly session: Session;
  readonly fed: readonly string[];
  close(): Promise<void>;
}

/** Training graphs that stay loaded: a few ranks and losses. */
const graphsKept = 6;
/** Samplers and scorers, one of each for a rank: the base model's and a few adapters'. */
const samplersKept = 3;

export class BaseModel implements AsyncDisposable {
  readonly #options: BaseModelOptions;
  readonly #base: PolicyModel;
  readonly #graphs = new SessionCache<LoadedGraph>(graphsKept);
  readonly #samplers = new SessionCache<PinnedSampler>(samplersKept);
  readonly #scorers = new SessionCache<PromptScorer>(samplersKept);

  private constructor(options: BaseModelOptions, base: PolicyModel) {
    this.#options = options;
    this.#base = base;
  }

  /** @throws ModelError */
  static async load(options: BaseModelOptions): Promise<BaseModel> {
    // A rank wants the base to be mapped from its file where that is possible.
    const lora = { rank: 1, alpha: 1 };
    return new BaseModel(options, await loadPolicyModel(options.path, { lora, seed: 0 }));
  }

  get limits(): ModelLimits {
    const { vocabSize, contextLength } = this.#base.config;
    return { vocabularySize: vocabSize, contextLength };
  }

  createAdapter(spec: AdapterSpec): Adapter {
    const policy = withNewAdapter(this.#base, { lora: loraSpecOf(spec), seed: spec.seed });
    const isTrained = (name: string): boolean =>
      name.includes(".mlp.") ? spec.trainMlp : spec.trainAttention;
    return new Adapter(spec, {
      ...policy,
      trained: policy.trained.filter(({ name }) => isTrained(name)),
    });
  }

  #withGraph<T>(
    policy: PolicyModel,
    options: TrainingGraphOptions,
    run: (graph: LoadedGraph) => Promise<T>,
  ): Promise<T> {
    const { loss, checkpointed } = options;
    const trained = policy.trained.map(({ name }) => name).join();
    const objective = loss === null ? "" : objectiveKey(loss);
    const { rank = 0, alpha = 0 } = policy.lora ?? {};
    const key = `${rank}/${alpha} ${objective} ${checkpointed} ${trained}`;
    return this.#graphs.use(key, () => this.#loadGraph(policy, options), run);
  }

  async #loadGraph(policy: PolicyModel, options: TrainingGraphOptions): Promise<LoadedGraph> {
    const { model, fed } = buildTrainingGraph(policy, options);
    const folder = policy.mappedFolder;
    const session = await createSession(model, {
      threads: this.#options.threads,
      prepack: false,
      ...(folder === null ? {} : { externalFolder: folder }),
    });
    return { session, fed, close: () => session.close() };
  }

  /**
   * Log-probabilities and the summed loss; with `backward` also adds the gradient to the adapter's.
   * @throws NumericsError when the loss or a gradient is not finite; nothing was added then.
   */
  async forwardBackward(
    adapter: Adapter,
    { loss, rows }: LossRequest,
    backward: boolean,
  ): Promise<ForwardBackwardOutput> {
    const policy = backward ? adapter.policy : { ...adapter.policy, trained: [] };
    const limits = batchLimits(policy.config, this.#options.memoryMiB);
    const logprobs = rows.map(({ tokens }) => new Float32Array(tokens.length));
    const gradients = new Map<string, Float32Array>();
    let total = 0;
    for (const batch of makeDatumBatches(rows, limits)) {
      const { checkpointed } = batch;
      const outputs = await this.#withGraph(policy, { loss, checkpointed }, ({ session, fed }) =>
        session.run({
          ...batch.modelInputs,
          ...batch.lossInputs,
          ...lossParameterTensors(loss),
          ...feedParameters(policy, fed),
        }),
      );
      const value = outputs["loss"]![0]!;
      if (!Number.isFinite(value)) throw new NumericsError("The loss", value);
      total += value;
      addGradients(gradients, policy, outputs);
      let start = 0;
      for (const index of batch.members) {
        const own = logprobs[index]!;
        own.set(outputs["logprobs"]!.subarray(start, start + own.length));
        start += own.length;
      }
    }
    if (backward) adapter.accumulate(gradients, countTrained(loss, rows));
    return {
      outputType: "TorchLossReturn",
      outputs: logprobs.map((values) => ({ logprobs: createFloatTensor(values) })),
      metrics: { "loss:sum": total },
    };
  }

  /** @throws NumericsError when the gradient is not finite; the weights stay as they were. */
  optimStep(
    adapter: Adapter,
    optim: OptimSpec,
    normalization?: GradientNormalization,
  ): Record<string, number> {
    return { grad_norm: adapter.step(optim, normalization) };
  }

  /** The policy that serves adapters of this shape; its factors are to be replaced. */
  async #policyOf({ rank, alpha }: AdapterWeights): Promise<PolicyModel> {
    if (rank === 0) return { ...this.#base, lora: null, loraParameters: [], trained: [] };
    const spec = { rank, alpha, seed: 0, trainAttention: true, trainMlp: true };
    return this.createAdapter(spec).policy;
  }

  async sample(weights: AdapterWeights, request: SampleRequest): Promise<readonly Sample[]> {
    return this.#samplers.use(
      shapeOf(weights),
      async () => PinnedSampler.create(await this.#policyOf(weights), this.#options.threads),
      (sampler) => sampler.sample(weights, request),
    );
  }

  /** [prompt] log-probability of each token after those before it; NaN for the first. */
  async scorePrompt(weights: AdapterWeights, prompt: Int32Array): Promise<Float32Array> {
    const scores = new Float32Array(prompt.length).fill(Number.NaN);
    if (prompt.length < 2) return scores;
    const policy = await this.#policyOf(weights);
    for (const [name, values] of weights.factors) policy.data.set(name, values);
    const rest = prompt.length - 1;
    const nothing = new Float32Array(rest);
    const row = {
      tokens: prompt.slice(0, rest),
      targets: prompt.slice(1),
      weights: nothing,
      advantages: nothing,
      samplingLogprobs: nothing,
    };
    const limits = batchLimits(policy.config, this.#options.memoryMiB);
    for (const { modelInputs } of makeDatumBatches([row], limits)) {
      const outputs = await this.#withGraph(
        { ...policy, trained: [] },
        { loss: null, checkpointed: false },
        ({ session, fed }) => session.run({ ...modelInputs, ...feedParameters(policy, fed) }),
      );
      scores.set(outputs["logprobs"]!.subarray(0, rest), 1);
    }
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
    await this.#scorers.use(
      shapeOf(weights),
      async () => PromptScorer.create(await this.#policyOf(weights), this.#options.threads),
      (scorer) => scorer.read(weights, prompt, visit),
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([this.#samplers.close(), this.#scorers.close(), this.#graphs.close()]);
    this.#base.scratch?.[Symbol.dispose]();
  }
}

function shapeOf({ rank, alpha }: AdapterWeights): string {
  return `${rank}/${alpha}`;
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

function addGradients(
  sums: Map<string, Float32Array>,
  policy: PolicyModel,
  outputs: Readonly<Record<string, Float32Array>>,
): void {
  for (const { name } of policy.trained) {
    const gradient = outputs[gradientName(name)]!;
    const sum = sums.get(name);
    if (sum === undefined) sums.set(name, gradient.slice());
    else for (let i = 0; i < sum.length; i++) sum[i]! += gradient[i]!;
    if (!gradient.every(Number.isFinite)) throw new NumericsError(`The gradient of ${name}`, NaN);
  }
}
