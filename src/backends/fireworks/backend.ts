/** The `fireworks` backend: trains and samples on Fireworks, serverless or on a dedicated trainer. */
import { partsOf } from "../../tinker-api/adapter-parts.ts";
import { randomBytes } from "node:crypto";
import type {
  BackendCapabilities,
  InferenceTarget,
  RunContext,
  TrainingBackend,
  UpdateMetrics,
} from "../../core/backend.ts";
import { backendsThat, capabilityMatrix } from "../../core/capabilities.ts";
import { ConfigError, UnsupportedOptionError } from "../../core/errors.ts";
import { refuseQuantization } from "../../core/refuse-quantization.ts";
import type { LossSpec, OptimSpec } from "../../core/loss/loss.ts";
import type { TrainingRow } from "../../core/loss/training-row.ts";
import type { Datum } from "../../tinker-api/messages.ts";
import { makeDatums } from "../../tinker-api/rows/datums.ts";
import { foldPenalty } from "../../tinker-api/rows/kl-penalty.ts";
import type { ServerProfile } from "../../tinker-api/rows/server-profile.ts";
import { serverMetrics, updateMetrics } from "../../tinker-api/rows/update-metrics.ts";
import { defined } from "../../util/defined.ts";
import { findRenderer } from "../find-renderer.ts";
import type { FireworksClient } from "./api/client.ts";
import { FireworksError } from "./api/fireworks-error.ts";
import { nameSuffix } from "./api/names.ts";
import type { FireworksTrainingClient } from "./api/training-client.ts";
import { readCheckpointFile, writeCheckpointFile } from "./checkpoint-file.ts";
import { fireworksLoss } from "./losses.ts";
import type { FireworksBackendOptions } from "./options.ts";
import { openSite, type Site } from "./site.ts";
import { SnapshotSampler, type Published } from "./snapshot-sampler.ts";

/** Limit at the end of a run; deleting the session ends its models anyway. */
const unloadMs = 5_000;
const promoteMs = 60_000;
const dedicatedPromoteMs = 600_000;

/** Losses are sums, and gradients are applied as they are: rows carry the factors of the aggregation. */
const profile: ServerProfile = {
  reduction: "sum",
  weighsPolicyLosses: false,
  samplesWhatIsTrained: false,
};

interface Started {
  readonly site: Site;
  readonly client: FireworksClient;
  readonly baseModel: string;
  readonly model: FireworksTrainingClient;
  readonly sampler: SnapshotSampler;
  published: Published;
}

interface Counts {
  readonly sampled: number;
  readonly prompt: number;
  readonly trained: number;
}

/** A model on Fireworks. Created by `createFireworksBackend`. */
export class FireworksBackend implements TrainingBackend {
  readonly name = "fireworks";
  readonly #options: FireworksBackendOptions;
  #started: Started | undefined;
  #reference: Promise<FireworksTrainingClient> | undefined;
  #snapshotOfState: string | null = null;
  #trainedTokens = 0;
  #reported: Counts = { sampled: 0, prompt: 0, trained: 0 };
  #undeleted: readonly string[] = [];
  /** While a deployment changes its weights, no sample begins. */
  #publishing: Promise<unknown> = Promise.resolve();

  #hasReference = true;

  constructor(options: FireworksBackendOptions = {}) {
    this.#options = options;
  }

  get capabilities(): BackendCapabilities {
    const row = capabilityMatrix.fireworks;
    if (this.#options.dedicated === undefined) return row;
    // A trainer has the base model of an adapter; where it trains every weight, it has no other.
    return { ...row, fullFineTune: true, reference: this.#hasReference };
  }

  /** USD per hour of the hardware that is held; null for serverless training, and where it is unknown. */
  get usdPerHour(): number | null {
    return this.#started?.site.usdPerHour ?? null;
  }

  /** Resource names of training sessions, trainers and deployments that could not be deleted at the end. */
  get undeletedSessions(): readonly string[] {
    return this.#undeleted;
  }

  get #run(): Started {
    if (this.#started === undefined) throw new Error("The fireworks backend has not been started.");
    return this.#started;
  }

  async start({ model: spec, seed, signal, runDir }: RunContext): Promise<InferenceTarget> {
    if (this.#started !== undefined)
      throw new Error("The fireworks backend has already been started.");
    const { lora, name: baseModel } = spec;
    refuseQuantization(spec, this.name);
    const { dedicated } = this.#options;
    if (lora === null && dedicated === undefined)
      throw new UnsupportedOptionError(
        "model.lora_rank",
        0,
        this.name,
        backendsThat(({ fullFineTune }) => fullFineTune),
      );
    const { contextLength, tokenizer } = this.#options;
    if (contextLength === undefined && dedicated === undefined)
      throw new ConfigError({
        message: `Fireworks does not report how long the context of "${baseModel}" is.`,
        hint: "Set fireworks.context_length.",
        fields: { baseModel },
      });
    // Whatever can fail without a session comes before it.
    const renderer = await findRenderer([tokenizer ?? baseModel], "fireworks.tokenizer", {
      signal,
    });
    signal.throwIfAborted();
    const site = await openSite(this.#options, {
      baseModel,
      loraRank: lora?.rank ?? 0,
      runDir: runDir ?? null,
      signal,
      onLeft: (names) => this.#leave(names),
    });
    const { client } = site;
    try {
      const { trainAttention, trainMlp, trainUnembed } = this.#options;
      const parts = partsOf(lora, this.name);
      const model = await client.createModel({
        baseModel,
        rank: lora?.rank ?? 0,
        ...defined({ alpha: lora?.alpha }),
        seed,
        ...defined({ trainAttention, trainMlp, trainUnembed }),
        ...parts,
        signal,
      });
      const published = await site.publish(model, 0, signal);
      const length = contextLength ?? site.contextLength ?? 0;
      const sampler = new SnapshotSampler(length, async () => {
        await this.#publishing;
        return this.#run.published;
      });
      this.#hasReference = lora !== null;
      this.#started = { site, client, baseModel, model, sampler, published };
      return { kind: "sampler", sampler, renderer };
    } catch (error) {
      this.#leave(await site.close());
      throw error;
    }
  }

  #leave(names: readonly string[]): void {
    this.#undeleted = [...this.#undeleted, ...names];
  }

  async updatePolicy(
    rows: readonly TrainingRow[],
    loss: LossSpec,
    optim: OptimSpec,
    signal?: AbortSignal,
  ): Promise<UpdateMetrics> {
    const { model } = this.#run;
    const { name, config } = fireworksLoss(loss);
    const penalty = loss.kl
      ? foldPenalty(rows, await this.forward(rows, "reference", signal), loss.kl)
      : null;
    const batch = makeDatums(rows, loss, profile, penalty?.penalties);
    if (batch.data.length === 0) return { tokens: 0, loss: 0, grad_norm: 0 };
    const options = defined({ signal });
    this.#count(batch.data);
    // The step is requested once the gradient is known to be complete: a part of it is never applied.
    const output = await model.forwardBackward(batch.data, name, config, options);
    const step = await model.optimStep(
      {
        learningRate: optim.learningRate,
        beta1: optim.beta1,
        beta2: optim.beta2,
        eps: optim.eps,
        weightDecay: optim.weightDecay,
        gradClipNorm: optim.maxGradNorm,
      },
      { ...options, normalization: "none" },
    );
    return {
      ...updateMetrics(rows, batch, output, loss, profile.reduction),
      ...stepMetrics(step),
      ...(penalty === null ? {} : { kl_reference: penalty.mean }),
    };
  }

  #count(data: readonly Datum[]): void {
    for (const { tokens } of data) this.#trainedTokens += tokens.length;
  }

  async forward(
    rows: readonly TrainingRow[],
    which: "current" | "reference",
    signal?: AbortSignal,
  ): Promise<readonly Float32Array[]> {
    const model = which === "current" ? this.#run.model : await this.#referenceModel();
    const bare = rows.map((row) => ({
      ...row,
      weights: new Float32Array(row.tokens.length).fill(1),
    }));
    const plain = {
      name: "cross_entropy",
      aggregation: "token-sum",
      epsClip: 0,
      epsClipHigh: 0,
    } as const;
    const { data, rowOf } = makeDatums(bare, plain, profile);
    const result: Float32Array[] = rows.map((row) => new Float32Array(row.tokens.length));
    if (data.length === 0) return result;
    this.#count(data);
    const { outputs } = await model.forward(data, "cross_entropy", {}, defined({ signal }));
    for (const [d, index] of rowOf.entries()) {
      const logprobs = outputs[d]!["logprobs"]!.data;
      const { targetMask } = rows[index]!;
      result[index] = Float32Array.from(targetMask, (mask, i) =>
        mask === 1 && i > 0 ? logprobs[i - 1]! : 0,
      );
    }
    return result;
  }

  /** The base model in the same session, made when it is needed first. */
  #referenceModel(): Promise<FireworksTrainingClient> {
    const { client, baseModel } = this.#run;
    this.#reference ??= client.createReference(baseModel).catch((error: unknown) => {
      this.#reference = undefined;
      throw error;
    });
    return this.#reference;
  }

  async publishWeights(): Promise<number> {
    const version = this.#run.published.version + 1;
    await this.#publish(version);
    return version;
  }

  async #publish(version: number): Promise<void> {
    const run = this.#run;
    const work = run.site.publish(run.model, version);
    if (this.#options.dedicated !== undefined) this.#publishing = work.catch(() => undefined);
    run.published = await work;
  }

  async saveState(folder: string): Promise<void> {
    const { model, client, baseModel } = this.#run;
    const statePath = await model.saveState(`state-${randomBytes(4).toString("hex")}`);
    // A state cannot be promoted, a snapshot can.
    const { outputModel } = this.#options;
    if (outputModel !== undefined) this.#snapshotOfState = await model.saveForSampler("keep");
    const snapshotPath = this.#snapshotOfState;
    const session = client.sessionName;
    await writeCheckpointFile(folder, { statePath, snapshotPath, session, baseModel });
  }

  async loadState(folder: string, weightVersion: number): Promise<void> {
    const run = this.#run;
    const statePath = await readCheckpointFile(folder, run.client.sessionName);
    await run.model.loadState(statePath, true);
    await this.#publish(weightVersion);
  }

  async metrics(): Promise<UpdateMetrics> {
    const { sampledTokens: sampled, promptTokens: prompt } = this.#run.sampler;
    const before = this.#reported;
    this.#reported = { sampled, prompt, trained: this.#trainedTokens };
    return {
      "engine/sampled_tokens": sampled - before.sampled,
      "engine/prompt_tokens": prompt - before.prompt,
      "engine/trained_tokens": this.#trainedTokens - before.trained,
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const run = this.#started;
    this.#started = undefined;
    if (run === undefined) return;
    await this.#promote(run);
    await run.model.unload({ signal: AbortSignal.timeout(unloadMs) }).catch(() => undefined);
    this.#leave(await run.site.close());
  }

  /** The last checkpoint becomes a model, since everything else ends with the session. */
  async #promote({ site, baseModel }: Started): Promise<void> {
    const { outputModel, onWarning } = this.#options;
    const snapshot = this.#snapshotOfState;
    if (outputModel === undefined || snapshot === null) return;
    const { dedicated } = this.#options;
    const signal = AbortSignal.timeout(dedicated === undefined ? promoteMs : dedicatedPromoteMs);
    const promote = (name: string): Promise<string> =>
      site.promote(snapshot, name, baseModel, signal);
    const promoted = promote(outputModel).catch(async (error: unknown) => {
      if (!(error instanceof FireworksError) || error.status !== 409) throw error;
      // The name is taken, and the weights would be gone.
      const model = await promote(`${outputModel.slice(0, 50)}-${nameSuffix()}`);
      onWarning?.(`The model ${outputModel} exists already; the last checkpoint is now ${model}.`);
    });
    await promoted.catch((error: unknown) => {
      onWarning?.(`The last checkpoint did not become the model ${outputModel}: ${String(error)}`);
    });
  }
}

/** `grad_norm:mean` is ours without the rule behind its colon. */
function stepMetrics(metrics: Readonly<Record<string, number>>): Record<string, number> {
  return serverMetrics(
    Object.fromEntries(
      Object.entries(metrics).map(([name, value]) => [
        name.replace(/grad_norm:(?:mean|max|sum)$/u, "grad_norm"),
        value,
      ]),
    ),
  );
}
