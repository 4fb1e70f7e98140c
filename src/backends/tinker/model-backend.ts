/** One model on a Tinker server: trains and samples it through the API's client. */
import { randomUUID } from "node:crypto";
import type { BackendCapabilities, RunContext } from "../../core/backend.ts";
import { CheckpointError, ConfigError, UnsupportedOptionError } from "../../core/errors.ts";
import type { LossSpec } from "../../core/loss/loss.ts";
import type { TrainingRow } from "../../core/loss/training-row.ts";
import { createTinkerClient, type TinkerClient } from "../../tinker-api/client.ts";
import type { SamplingClient } from "../../tinker-api/sampling-client.ts";
import {
  TinkerError,
  TinkerLiveSnapshotError,
  TinkerStatusError,
} from "../../tinker-api/tinker-error.ts";
import type { TrainingClient } from "../../tinker-api/training-client.ts";
import type { TinkerCallOptions } from "../../tinker-api/wire/futures.ts";
import type { AdamParams } from "../../tinker-api/wire/model-client.ts";
import { mapConcurrent } from "../../util/concurrency.ts";
import { defined } from "../../util/defined.ts";
import { partsOf } from "../datum/adapter-parts.ts";
import { DatumBackend, madeOnce, maskTo, type DatumRun, type Opened } from "../datum/backend.ts";
import { PublishedSampler, type Published } from "../datum/published-sampler.ts";
import { findRenderer } from "../find-renderer.ts";
import { readCheckpointFile, writeCheckpointFile } from "./checkpoint-file.ts";
import type { TinkerBackendOptions } from "./options.ts";
import { sampleSequences } from "./sample-sequences.ts";
import { probeSampling } from "./sampling-profile.ts";
import { capabilitiesOn, probeClipping, probeServer } from "./server-probes.ts";
import { SnapshotWitness } from "./snapshot-witness.ts";

/** Prompts scored concurrently. */
const scoresAtOnce = 32;

interface TinkerRun extends DatumRun {
  readonly client: TinkerClient;
  readonly baseModel: string;
  readonly loraRank: number;
  readonly sampler: PublishedSampler<SamplingClient>;
  model: TrainingClient;
  published: Published<SamplingClient>;
  /** Null once it has told, and where it is not asked. */
  witness: SnapshotWitness | null;
  /** Weights have changed since the last snapshot. */
  hasStepped: boolean;
}

/** With one adapter; `SampleRequest.adapter` null samples from the base. */
export class TinkerModel extends DatumBackend<TinkerRun> {
  override readonly name = "tinker";
  readonly #options: TinkerBackendOptions;
  readonly #checkedClips = new Set<string>();
  readonly #reference = madeOnce(() => {
    const { client, baseModel } = this.run;
    return client.createSampler({ baseModel });
  });

  constructor(options: TinkerBackendOptions = {}) {
    super();
    this.#options = options;
  }

  /** Known exactly only after a request to the server. */
  get capabilities(): BackendCapabilities {
    return capabilitiesOn(this.started?.traits ?? null);
  }

  protected async open({
    model: { lora, name: baseModel },
    seed,
    signal,
  }: RunContext): Promise<Opened<TinkerRun>> {
    if (lora === null || lora.alpha !== this.capabilities.loraAlpha)
      throw new UnsupportedOptionError("model.lora_alpha", lora?.alpha, this.name, ["local"]);
    const { baseUrl, apiKey, onWarning, snapshots = "probe" } = this.#options;
    const client = await createTinkerClient({
      ...this.#options.client,
      ...defined({ baseUrl, apiKey, onWarning }),
    });
    try {
      const contextLength = await this.#contextLength(client, baseModel);
      const { rank: loraRank } = lora;
      const parts = partsOf(lora, this.name);
      const model = await client.createModel({ baseModel, rank: loraRank, ...parts, seed, signal });
      const { tokenizer } = await model.info({ signal });
      const places =
        this.#options.tokenizer === undefined ? [baseModel, tokenizer] : [this.#options.tokenizer];
      const renderer = await findRenderer(places, "tinker.tokenizer", { signal });
      const probed = await probeServer(model, signal);
      const traits =
        snapshots === "probe" ? probed : { ...probed, samplesWhatIsTrained: snapshots === "live" };
      if (traits.reduction !== "sum")
        onWarning?.(
          `The Tinker server averages losses (${traits.reduction}); this is compensated for.`,
        );
      const published = { client: await model.createSampler({ signal }), version: 0 };
      const profile = await probeSampling(published.client, signal);
      const sampler = new PublishedSampler({
        backend: this.name,
        contextLength,
        published: async ({ adapter }) =>
          adapter === null
            ? { ...this.run.published, client: await this.#reference() }
            : this.run.published,
        sample: (from: SamplingClient, request, usage) =>
          sampleSequences(from, profile, request, usage),
      });
      const witness =
        snapshots === "probe" ? await SnapshotWitness.of(published.client, signal) : null;
      const models = { model, traits, published, witness, hasStepped: false };
      return { run: { client, baseModel, loraRank, sampler, ...models }, renderer };
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

  protected override async checkUpdate(loss: LossSpec, signal?: AbortSignal): Promise<void> {
    const { traits, sampler } = this.run;
    const { inFlight } = sampler;
    if (traits.samplesWhatIsTrained && inFlight > 0)
      throw new TinkerError({
        message: `Samples are in flight (${inFlight}), and this server would continue them with weights that are being changed.`,
        hint: "Train synchronously (without async_training), or use a server that keeps samplers apart.",
        fields: { inFlight },
      });
    await this.#checkClipping(loss, signal);
  }

  /** Once per loss and bounds. @throws TinkerError when the server clips elsewhere. */
  async #checkClipping(loss: LossSpec, signal?: AbortSignal): Promise<void> {
    const { name } = loss;
    if (name !== "ppo" && name !== "cispo") return;
    const bounds = { low: 1 - loss.epsClip, high: 1 + loss.epsClipHigh };
    const key = `${name} ${bounds.low} ${bounds.high}`;
    if (this.#checkedClips.has(key)) return;
    const found = await probeClipping(this.run.model, name, bounds, signal);
    if (found !== null)
      throw new TinkerError({
        message: `This server's ${name} limits ratios to ${found}, though ${bounds.high} was requested.`,
        hint: "Set algorithm.loss.eps_clip and algorithm.loss.eps_clip_high to what it does, or use another loss.",
        fields: { found, ...bounds },
      });
    this.#checkedClips.add(key);
  }

  /** Sent before the gradient is there: a server may work in cycles. */
  protected async step(
    _gradient: Promise<unknown>,
    adam: AdamParams,
    options: TinkerCallOptions,
  ): Promise<Readonly<Record<string, number>>> {
    const metrics = await this.run.model.optimStep(adam, options);
    if (adam.learningRate !== 0) this.run.hasStepped = true;
    return metrics;
  }

  protected async scoreByReference(
    rows: readonly TrainingRow[],
    options: TinkerCallOptions,
  ): Promise<readonly Float32Array[]> {
    const reference = await this.#reference();
    const score = async (row: TrainingRow): Promise<Float32Array> => {
      const logprobs = await reference.computeLogprobs(row.tokens, options);
      return maskTo(row, (i) => logprobs[i]!);
    };
    return mapConcurrent(rows, scoresAtOnce, score, options.signal);
  }

  async publishWeights(): Promise<number> {
    const { run } = this;
    const version = run.published.version + 1;
    run.published = { client: await this.#createSnapshot(run), version };
    run.hasStepped = false;
    return version;
  }

  /** Asks the one before it until a step has moved the weights far enough to tell. @throws TinkerLiveSnapshotError */
  async #createSnapshot(run: TinkerRun): Promise<SamplingClient> {
    const { witness, client, model } = run;
    if (witness === null || !run.hasStepped) return model.createSampler();
    const { finding, current, next } = await witness.compare(() => model.createSampler());
    if (finding.kind === "live")
      throw new TinkerLiveSnapshotError(client.baseUrl, finding.drift, finding.moved);
    run.witness = finding.kind === "frozen" ? null : next;
    return current;
  }

  async saveState(folder: string): Promise<void> {
    const { model, client, baseModel, loraRank } = this.run;
    const ttlSeconds = this.#options.checkpointTtlSeconds ?? undefined;
    const statePath = await model.saveState(`run-${randomUUID()}`, defined({ ttlSeconds }));
    await writeCheckpointFile(folder, { statePath, baseModel, loraRank, baseUrl: client.baseUrl });
  }

  async loadState(folder: string, weightVersion: number): Promise<void> {
    const { run } = this;
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
    run.published = { client: await run.model.createSampler(), version: weightVersion };
    run.hasStepped = false;
    if (run.witness !== null) run.witness = await SnapshotWitness.of(run.published.client);
  }

  protected counts(): Readonly<Record<string, number>> {
    return { "engine/sampled_tokens": this.run.sampler.usage.sampled };
  }

  protected close({ client }: TinkerRun): Promise<void> {
    return client[Symbol.asyncDispose]();
  }
}
