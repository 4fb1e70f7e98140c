/** The `tinker` backend: trains and samples on a Tinker server, through the API's client. */
import { partsOf } from "../../tinker-api/adapter-parts.ts";
import { randomUUID } from "node:crypto";
import type {
  BackendCapabilities,
  InferenceTarget,
  RunContext,
  TrainingBackend,
  UpdateMetrics,
} from "../../core/backend.ts";
import { backendsThat } from "../../core/capabilities.ts";
import { CheckpointError, ConfigError, UnsupportedOptionError } from "../../core/errors.ts";
import { refuseQuantization } from "../../core/refuse-quantization.ts";
import type { LossSpec, OptimSpec } from "../../core/loss/loss.ts";
import type { TrainingRow } from "../../core/loss/training-row.ts";
import { createTinkerClient, type TinkerClient } from "../../tinker-api/client.ts";
import { makeDatums } from "../../tinker-api/rows/datums.ts";
import { foldPenalty } from "../../tinker-api/rows/kl-penalty.ts";
import type { ServerProfile } from "../../tinker-api/rows/server-profile.ts";
import { serverMetrics, updateMetrics } from "../../tinker-api/rows/update-metrics.ts";
import type { SamplingClient } from "../../tinker-api/sampling-client.ts";
import {
  TinkerError,
  TinkerLiveSnapshotError,
  TinkerStatusError,
} from "../../tinker-api/tinker-error.ts";
import type { TrainingClient } from "../../tinker-api/training-client.ts";
import { mapConcurrent } from "../../util/concurrency.ts";
import { defined } from "../../util/defined.ts";
import { findRenderer } from "../find-renderer.ts";
import { readCheckpointFile, writeCheckpointFile } from "./checkpoint-file.ts";
import { tinkerLoss } from "./losses.ts";
import type { TinkerBackendOptions } from "./options.ts";
import { probeSampling } from "./sampling-profile.ts";
import { probeClipping, probeServer } from "./server-profile.ts";
import { capabilitiesOn } from "./server-capabilities.ts";
import { SnapshotWitness } from "./snapshot-witness.ts";
import { VersionSampler } from "./version-sampler.ts";

/** Limit at the end of a run; a server that does not respond ends the session itself. */
const unloadMs = 5_000;
/** Prompts scored concurrently. */
const scoresAtOnce = 32;

interface Started {
  readonly client: TinkerClient;
  readonly baseModel: string;
  readonly loraRank: number;
  readonly profile: ServerProfile;
  readonly sampler: VersionSampler;
  model: TrainingClient;
  published: SamplingClient;
  version: number;
  /** Null once it has told, and where it is not asked. */
  witness: SnapshotWitness | null;
  /** Weights have changed since the last snapshot. */
  hasStepped: boolean;
}

/** A model on a Tinker server. Created by `createTinkerBackend`. */
export class TinkerBackend implements TrainingBackend {
  readonly name = "tinker";
  readonly #options: TinkerBackendOptions;
  readonly #checkedClips = new Set<string>();
  #started: Started | undefined;
  #reference: Promise<SamplingClient> | undefined;
  #countedTokens = 0;

  constructor(options: TinkerBackendOptions = {}) {
    this.#options = options;
  }

  /** Known exactly only after a request to the server. */
  get capabilities(): BackendCapabilities {
    return capabilitiesOn(this.#started?.profile ?? null);
  }

  get #run(): Started {
    if (this.#started === undefined) throw new Error("The tinker backend has not been started.");
    return this.#started;
  }

  async start({ model: spec, seed, signal }: RunContext): Promise<InferenceTarget> {
    if (this.#started !== undefined)
      throw new Error("The tinker backend has already been started.");
    const { lora, name: baseModel } = spec;
    refuseQuantization(spec, this.name);
    if (lora === null)
      throw new UnsupportedOptionError(
        "model.lora_rank",
        0,
        this.name,
        backendsThat(({ fullFineTune }) => fullFineTune),
      );
    if (lora.alpha !== this.capabilities.loraAlpha)
      throw new UnsupportedOptionError("model.lora_alpha", lora.alpha, this.name, ["local"]);
    const { baseUrl, apiKey, onWarning, client: clientOptions = {} } = this.#options;
    const client = await createTinkerClient({
      ...clientOptions,
      ...defined({ baseUrl, apiKey, onWarning }),
    });
    try {
      const contextLength = await this.#contextLength(client, baseModel);
      const model = await client.createModel({
        baseModel,
        rank: lora.rank,
        ...partsOf(lora, this.name),
        seed,
        signal,
      });
      const { tokenizer } = await model.info({ signal });
      const places =
        this.#options.tokenizer === undefined ? [baseModel, tokenizer] : [this.#options.tokenizer];
      const renderer = await findRenderer(places, "tinker.tokenizer", { signal });
      const { snapshots = "probe" } = this.#options;
      const probed = await probeServer(model, signal);
      const profile =
        snapshots === "probe" ? probed : { ...probed, samplesWhatIsTrained: snapshots === "live" };
      if (profile.reduction !== "sum")
        onWarning?.(
          `The Tinker server averages losses (${profile.reduction}); this is compensated for.`,
        );
      const published = await model.createSampler({ signal });
      const sampling = await probeSampling(published, signal);
      const sampler = new VersionSampler(contextLength, sampling, () => {
        const { published: current, version } = this.#run;
        return { client: current, version };
      });
      const loraRank = lora.rank;
      this.#started = {
        client,
        baseModel,
        loraRank,
        profile,
        sampler,
        model,
        published,
        version: 0,
        witness: snapshots === "probe" ? await SnapshotWitness.of(published, signal) : null,
        hasStepped: false,
      };
      return { kind: "sampler", sampler, renderer };
    } catch (error) {
      client.close();
      throw error;
    }
  }

  async #contextLength(client: TinkerClient, baseModel: string): Promise<number> {
    if (this.#options.contextLength !== undefined) return this.#options.contextLength;
    const models = await client.rest.models();
    const found = models.find(({ name }) => name === baseModel)?.contextLength;
    if (found) return found;
    const names = models.flatMap(({ name }) => name ?? []);
    if (names.length > 0 && !names.includes(baseModel))
      throw new ConfigError({
        message: `The Tinker server has no model "${baseModel}". Its models: ${names.join(", ")}.`,
        hint: "Choose one of them as model.name.",
        fields: { baseModel, names },
      });
    throw new ConfigError({
      message: `The Tinker server does not say how long the context of "${baseModel}" is.`,
      hint: "Set tinker.context_length.",
      fields: { baseModel },
    });
  }

  async updatePolicy(
    rows: readonly TrainingRow[],
    loss: LossSpec,
    optim: OptimSpec,
    signal?: AbortSignal,
  ): Promise<UpdateMetrics> {
    const { model, profile, sampler } = this.#run;
    const { name, config } = tinkerLoss(loss);
    if (profile.samplesWhatIsTrained && sampler.inFlight > 0)
      throw samplesInFlight(sampler.inFlight);
    await this.#checkClipping(loss, signal);
    const penalty = loss.kl
      ? foldPenalty(rows, await this.forward(rows, "reference", signal), loss.kl)
      : null;
    const batch = makeDatums(rows, loss, profile, penalty?.penalties);
    if (batch.data.length === 0) return { tokens: 0, loss: 0, grad_norm: 0 };
    const options = signal === undefined ? {} : { signal };
    // Both are sent before either has a result: a server may work in cycles.
    const [output, step] = await Promise.all([
      model.forwardBackward(batch.data, name, config, options),
      model.optimStep(
        {
          learningRate: optim.learningRate,
          beta1: optim.beta1,
          beta2: optim.beta2,
          eps: optim.eps,
          weightDecay: optim.weightDecay,
          gradClipNorm: optim.maxGradNorm,
        },
        options,
      ),
    ]);
    if (optim.learningRate > 0) this.#run.hasStepped = true;
    return {
      ...updateMetrics(rows, batch, output, loss, profile.reduction),
      ...serverMetrics(step),
      ...(penalty === null ? {} : { kl_reference: penalty.mean }),
    };
  }

  /** Once per loss and bounds. @throws TinkerError when the server clips elsewhere. */
  async #checkClipping(loss: LossSpec, signal?: AbortSignal): Promise<void> {
    const { name } = loss;
    if (name !== "ppo" && name !== "cispo") return;
    const bounds = { low: 1 - loss.epsClip, high: 1 + loss.epsClipHigh };
    const key = `${name} ${bounds.low} ${bounds.high}`;
    if (this.#checkedClips.has(key)) return;
    const found = await probeClipping(this.#run.model, name, bounds, signal);
    if (found !== null)
      throw new TinkerError({
        message: `This server's ${name} limits ratios to ${found}, though ${bounds.high} was requested.`,
        hint: "Set algorithm.loss.eps_clip and algorithm.loss.eps_clip_high to what it does, or use another loss.",
        fields: { found, ...bounds },
      });
    this.#checkedClips.add(key);
  }

  async forward(
    rows: readonly TrainingRow[],
    which: "current" | "reference",
    signal?: AbortSignal,
  ): Promise<readonly Float32Array[]> {
    const options = signal === undefined ? {} : { signal };
    const { client, baseModel, model, profile } = this.#run;
    if (which === "reference") {
      this.#reference ??= client.createSampler({ baseModel }).catch((error: unknown) => {
        this.#reference = undefined;
        throw error;
      });
      const reference = await this.#reference;
      const score = async (row: TrainingRow): Promise<Float32Array> =>
        maskTo(row, await reference.computeLogprobs(row.tokens, options));
      return mapConcurrent(rows, scoresAtOnce, score, signal);
    }
    const plain = {
      name: "cross_entropy",
      aggregation: "seq-mean-token-mean",
      epsClip: 0,
      epsClipHigh: 0,
    } as const;
    const bare = rows.map((row) => ({
      ...row,
      weights: new Float32Array(row.tokens.length).fill(1),
    }));
    const { data, rowOf } = makeDatums(bare, plain, profile);
    const result: Float32Array[] = rows.map((row) => new Float32Array(row.tokens.length));
    if (data.length === 0) return result;
    const { outputs } = await model.forward(data, "cross_entropy", {}, options);
    for (const [d, index] of rowOf.entries()) {
      const logprobs = outputs[d]!["logprobs"]!.data as Float32Array;
      result[index] = maskTo(rows[index]!, Float32Array.of(0, ...logprobs));
    }
    return result;
  }

  async publishWeights(): Promise<number> {
    const run = this.#run;
    run.published = await this.#createSnapshot(run);
    run.hasStepped = false;
    run.version += 1;
    return run.version;
  }

  /** Asks the one before it until a step has moved the weights far enough to tell. @throws TinkerLiveSnapshotError */
  async #createSnapshot(run: Started): Promise<SamplingClient> {
    const { witness, client, model } = run;
    if (witness === null || !run.hasStepped) return model.createSampler();
    const { finding, current, next } = await witness.compare(() => model.createSampler());
    if (finding.kind === "live")
      throw new TinkerLiveSnapshotError(client.baseUrl, finding.drift, finding.moved);
    run.witness = finding.kind === "frozen" ? null : next;
    return current;
  }

  async saveState(folder: string): Promise<void> {
    const { model, client, baseModel, loraRank } = this.#run;
    const ttlSeconds = this.#options.checkpointTtlSeconds ?? null;
    const name = `run-${randomUUID()}`;
    const statePath = await model.saveState(name, ttlSeconds === null ? {} : { ttlSeconds });
    await writeCheckpointFile(folder, { statePath, baseModel, loraRank, baseUrl: client.baseUrl });
  }

  async loadState(folder: string, weightVersion: number): Promise<void> {
    const run = this.#run;
    const { statePath } = await readCheckpointFile(folder, run);
    await run.client.rest.weightsInfo(statePath).catch((cause: unknown) => {
      if (!(cause instanceof TinkerStatusError) || cause.status !== 404) throw cause;
      throw new CheckpointError({
        message: `The server has no checkpoint ${statePath} any more.`,
        hint: "Resume from an earlier checkpoint, or on the server that has it.",
        cause,
        fields: { statePath },
      });
    });
    // A model loads a checkpoint only as its first request, and some servers have room for one
    // model.
    await run.model.unload().catch(() => undefined);
    run.model = await run.client.createModelFromState(statePath, true);
    run.published = await run.model.createSampler();
    run.version = weightVersion;
    run.hasStepped = false;
    if (run.witness !== null) run.witness = await SnapshotWitness.of(run.published);
  }

  async metrics(): Promise<UpdateMetrics> {
    const { tokens } = this.#run.sampler;
    const sampled = tokens - this.#countedTokens;
    this.#countedTokens = tokens;
    return { "engine/sampled_tokens": sampled };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const run = this.#started;
    this.#started = undefined;
    if (run === undefined) return;
    await run.model.unload({ signal: AbortSignal.timeout(unloadMs) }).catch(() => undefined);
    await run.client[Symbol.asyncDispose]();
  }
}

function samplesInFlight(inFlight: number): TinkerError {
  return new TinkerError({
    message: `Samples are in flight (${inFlight}), and this server would continue them with weights that are being changed.`,
    hint: "Train synchronously (without async_training), or use a server that keeps samplers apart.",
    fields: { inFlight },
  });
}

/** The log-probabilities, with 0 where nothing is trained. */
function maskTo({ targetMask }: TrainingRow, logprobs: Float32Array): Float32Array {
  return logprobs.map((value, i) => (targetMask[i] === 1 ? value : 0));
}
