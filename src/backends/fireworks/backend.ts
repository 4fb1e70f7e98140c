/** The `fireworks` backend: trains and samples on Fireworks, serverless or on a dedicated trainer. */
import type { BackendCapabilities, RunContext } from "../../core/backend.ts";
import { capabilityMatrix } from "../../core/capabilities.ts";
import { ConfigError } from "../../core/errors.ts";
import type { TrainingRow } from "../../core/loss/training-row.ts";
import type { TinkerCallOptions } from "../../tinker-api/wire/futures.ts";
import type { AdamParams } from "../../tinker-api/wire/model-client.ts";
import { defined } from "../../util/defined.ts";
import { partsOf } from "../datum/adapter-parts.ts";
import { DatumBackend, madeOnce, type DatumRun, type Opened } from "../datum/backend.ts";
import { PublishedSampler, type Published } from "../datum/published-sampler.ts";
import type { ServerTraits } from "../datum/server-traits.ts";
import { findRenderer } from "../find-renderer.ts";
import { FireworksError } from "./api/fireworks-error.ts";
import { nameSuffix } from "./api/names.ts";
import type { FireworksSamplingClient } from "./api/sampling-client.ts";
import type { FireworksTrainingClient } from "./api/training-client.ts";
import { readCheckpointFile, writeCheckpointFile } from "./checkpoint-file.ts";
import type { FireworksBackendOptions } from "./options.ts";
import { sampleSequences } from "./sample-sequences.ts";
import { openSite, type Site } from "./site.ts";

const promoteMs = 60_000;
const dedicatedPromoteMs = 600_000;

/** Losses are sums, and gradients are applied as they are: rows carry the factors of the aggregation. */
const traits: ServerTraits = {
  reduction: "sum",
  weighsPolicyLosses: false,
  samplesWhatIsTrained: false,
};

interface FireworksRun extends DatumRun {
  readonly site: Site;
  readonly baseModel: string;
  readonly model: FireworksTrainingClient;
  readonly sampler: PublishedSampler<FireworksSamplingClient>;
  published: Published<FireworksSamplingClient>;
}

/** A model on Fireworks. Created by `createFireworksBackend`. */
export class FireworksBackend extends DatumBackend<FireworksRun> {
  override readonly name = "fireworks";
  readonly #options: FireworksBackendOptions;
  /** The base model in the same session. */
  readonly #reference = madeOnce(() => {
    const { site, baseModel } = this.run;
    return site.client.createReference(baseModel);
  });
  #snapshotOfState: string | null = null;
  #undeleted: readonly string[] = [];
  /** While a deployment changes its weights, no sample begins. */
  #publishing: Promise<unknown> = Promise.resolve();
  #hasReference = true;

  constructor(options: FireworksBackendOptions = {}) {
    super();
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
    return this.started?.site.usdPerHour ?? null;
  }

  /** Resource names of training sessions, trainers and deployments that could not be deleted at the end. */
  get undeletedSessions(): readonly string[] {
    return this.#undeleted;
  }

  protected async open({
    model: { lora, name: baseModel },
    seed,
    signal,
    runDir,
  }: RunContext): Promise<Opened<FireworksRun>> {
    const { contextLength, tokenizer, dedicated } = this.#options;
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
    try {
      const { trainAttention, trainMlp, trainUnembed } = this.#options;
      const model = await site.client.createModel({
        baseModel,
        rank: lora?.rank ?? 0,
        ...defined({ alpha: lora?.alpha }),
        seed,
        ...defined({ trainAttention, trainMlp, trainUnembed }),
        ...partsOf(lora, this.name),
        signal,
      });
      const published = await site.publish(model, 0, signal);
      const sampler = new PublishedSampler({
        backend: this.name,
        contextLength: contextLength ?? site.contextLength ?? 0,
        published: async () => {
          await this.#publishing;
          return this.run.published;
        },
        sample: sampleSequences,
      });
      this.#hasReference = lora !== null;
      return { run: { site, baseModel, model, traits, sampler, published }, renderer };
    } catch (error) {
      this.#leave(await site.close());
      throw error;
    }
  }

  #leave(names: readonly string[]): void {
    this.#undeleted = [...this.#undeleted, ...names];
  }

  /** Requested once the gradient is known to be complete: a part of it is never applied. */
  protected async step(
    gradient: Promise<unknown>,
    adam: AdamParams,
    options: TinkerCallOptions,
  ): Promise<Readonly<Record<string, number>>> {
    await gradient;
    return this.run.model.optimStep(adam, { ...options, normalization: "none" });
  }

  protected async scoreByReference(
    rows: readonly TrainingRow[],
    options: TinkerCallOptions,
  ): Promise<readonly Float32Array[]> {
    return this.scoreBy(await this.#reference(), rows, options);
  }

  async publishWeights(): Promise<number> {
    const version = this.run.published.version + 1;
    await this.#publish(version);
    return version;
  }

  async #publish(version: number): Promise<void> {
    const { run } = this;
    const work = run.site.publish(run.model, version);
    if (this.#options.dedicated !== undefined) this.#publishing = work.catch(() => undefined);
    run.published = await work;
  }

  async saveState(folder: string): Promise<void> {
    const { model, site, baseModel } = this.run;
    const statePath = await model.saveState(`state-${nameSuffix()}`);
    // A state cannot be promoted, a snapshot can.
    const { outputModel } = this.#options;
    if (outputModel !== undefined) this.#snapshotOfState = await model.saveForSampler("keep");
    const snapshotPath = this.#snapshotOfState;
    const session = site.client.sessionName;
    await writeCheckpointFile(folder, { statePath, snapshotPath, session, baseModel });
  }

  async loadState(folder: string, weightVersion: number): Promise<void> {
    const { site, model } = this.run;
    await model.loadState(await readCheckpointFile(folder, site.client.sessionName), true);
    await this.#publish(weightVersion);
  }

  protected counts(): Readonly<Record<string, number>> {
    const { sampled, prompt } = this.run.sampler.usage;
    return {
      "engine/sampled_tokens": sampled,
      "engine/prompt_tokens": prompt,
      "engine/trained_tokens": this.passedTokens,
    };
  }

  /** The last checkpoint becomes a model, since everything else ends with the session. */
  protected override async keep({ site, baseModel }: FireworksRun): Promise<void> {
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

  protected async close({ site }: FireworksRun): Promise<void> {
    this.#leave(await site.close());
  }
}
