/** The `verl` backend: a bridge in Python samples and trains, this process keeps the loop. */
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { rowFactors } from "../../core/loss/aggregation.ts";
import type {
  BackendCapabilities,
  HttpTarget,
  HttpWorker,
  ModelSpec,
  RunContext,
  TrainingBackend,
  UpdateMetrics,
  WhichWeights,
  WorkerKind,
} from "../../core/backend.ts";
import { capabilityMatrix } from "../../core/capabilities.ts";
import { ConfigError, ModelError, NumericsError } from "../../core/errors.ts";
import {
  refuseAdapters,
  refuseObservations,
  refuseQuantization,
} from "../../core/refuse-unsupported.ts";
import type { LossSpec, OptimSpec } from "../../core/loss/loss.ts";
import type { TrainingRow } from "../../core/loss/training-row.ts";
import { parseModelId } from "../../models/hub/model-id.ts";
import { resolveModel } from "../../models/hub/pull-model.ts";
import { loadFolderRenderer } from "../find-renderer.ts";
import { defined } from "../../util/defined.ts";
import type { OpenBridge, BridgeClient } from "./bridge-client.ts";
import { raceAbort } from "../../util/abort.ts";
import { bridgeLog } from "./bridge-log.ts";
import { openBridge } from "./open-bridge.ts";
import { criticFactors, encodeCritic } from "./critic-wire.ts";
import { encodeLoss, encodeRows } from "./row-wire.ts";
import { verlOverrides } from "./shared-keys.ts";
import type { VerlBackendOptions } from "./verl-options.ts";

interface StartedWire {
  readonly model: string;
  readonly servers: readonly {
    readonly url: string;
    readonly kind: WorkerKind;
    readonly logprob_kind: "raw" | "processed";
  }[];
  readonly context_length: number | null;
  readonly critic: boolean;
}

const defaults = { startTimeoutMs: 1_800_000, timeoutMs: 3_600_000 };

const fixed = ["beta1", "beta2", "eps", "weightDecay", "maxGradNorm"] as const;

/** The row of the capability matrix, adjusted to the options of this backend. */
function capabilitiesOf({ placement, run }: VerlBackendOptions): BackendCapabilities {
  const { valueModel, ...verl } = capabilityMatrix.verl;
  return {
    ...verl,
    ...(run.critic === true && valueModel !== undefined ? { valueModel } : {}),
    ...(run.reference === true ? {} : { klEstimators: [], reference: false }),
    ...(placement === "disaggregated" ? { servesWhileTraining: true } : {}),
  };
}

/** A model on a Ray cluster, trained by verl. Created by `createVerlBackend`. */
export class VerlBackend implements TrainingBackend {
  readonly name = "verl";
  readonly capabilities: BackendCapabilities;
  readonly #options: VerlBackendOptions;
  #bridge: OpenBridge | undefined;
  #step = 0;
  #version = 0;
  /** Whether the weights have changed since they were last served. */
  #isAhead = false;

  constructor(options: VerlBackendOptions) {
    this.#options = options;
    this.capabilities = capabilitiesOf(options);
  }

  /** Process id of the bridge, while it is a child of this process. */
  get pid(): number | null {
    return this.#bridge?.pid ?? null;
  }

  async start(run: RunContext): Promise<HttpTarget> {
    if (this.#bridge !== undefined) throw new Error("The verl backend has already been started.");
    refuseQuantization(run.model, this.name);
    refuseAdapters(run.model, this.name);
    const overrides = this.#overridesFor(run.model);
    const path = await this.#findModel(run);
    const renderer = this.#options.renderer ?? (await loadFolderRenderer(path));
    const { runDir } = run;
    const { onLog = runDir === undefined ? undefined : bridgeLog(runDir) } = this.#options;
    this.#bridge = await openBridge({ ...this.#options, ...defined({ onLog }) }, run.signal);
    const started = await raceAbort(this.#startEngine(path, run.seed, overrides), run.signal);
    const workers = started.servers.map(({ url, kind, logprob_kind: logprobKind }): HttpWorker => ({
      url,
      kind,
      logprobKind,
    }));
    return {
      kind: "http",
      workers,
      renderer,
      tokenMode: "cumulative",
      ...(started.context_length === null ? {} : { contextLength: started.context_length }),
    };
  }

  async updatePolicy(
    rows: readonly TrainingRow[],
    loss: LossSpec,
    optim: OptimSpec,
  ): Promise<UpdateMetrics> {
    this.#checkOptim(optim);
    refuseObservations(rows, this.name);
    const step = this.#step + 1;
    const factors = rowFactors(rows, loss.aggregation, loss.aggregationLength);
    const { learningRate } = optim;
    const { critic = null } = loss;
    const fields = { step, learning_rate: learningRate, loss: encodeLoss(loss) };
    const body =
      critic === null
        ? encodeRows(rows, factors, fields)
        : encodeRows(
            rows,
            factors,
            { ...fields, critic: encodeCritic(critic) },
            criticFactors(rows, loss),
          );
    const { metrics } = await this.#update(body);
    this.#step = step;
    this.#isAhead = true;
    return metrics;
  }

  async #update(body: Uint8Array<ArrayBuffer>): Promise<{ readonly metrics: UpdateMetrics }> {
    try {
      return (await this.#run("update", body)) as { metrics: UpdateMetrics };
    } catch (error) {
      // Colocated servers were put to sleep for it. If an earlier update changed the weights, the
      // next `publishWeights` wakes them; if none did, there may be none.
      if (error instanceof NumericsError && !this.#isAhead) await this.#run("wake", {});
      throw error;
    }
  }

  async forward(
    rows: readonly TrainingRow[],
    which: WhichWeights = "current",
  ): Promise<readonly Float32Array[]> {
    const factors = new Float32Array(rows.length);
    const response = (await this.#run("forward", encodeRows(rows, factors, { which }))) as {
      logprobs: readonly (readonly number[])[];
    };
    return response.logprobs.map((values) => Float32Array.from(values));
  }

  async values(rows: readonly TrainingRow[]): Promise<readonly Float32Array[]> {
    const body = encodeRows(rows, new Float32Array(rows.length), {});
    const { values } = (await this.#run("values", body)) as {
      values: readonly (readonly number[])[];
    };
    return values.map((own) => Float32Array.from(own));
  }

  async publishWeights(): Promise<number> {
    const version = this.#version + 1;
    await this.#run("sync", { weight_version: version });
    this.#version = version;
    this.#isAhead = false;
    return version;
  }

  async saveState(folder: string): Promise<void> {
    await this.#run("save", { folder: resolve(folder) });
  }

  async loadState(folder: string, weightVersion: number): Promise<void> {
    const body = { folder: resolve(folder), weight_version: weightVersion };
    const { step } = (await this.#run("load", body)) as { step: number };
    this.#step = step;
    this.#version = weightVersion;
    this.#isAhead = false;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const bridge = this.#bridge;
    this.#bridge = undefined;
    await bridge?.[Symbol.asyncDispose]();
  }

  get #client(): BridgeClient {
    if (this.#bridge === undefined) throw new Error("The verl backend has not been started.");
    return this.#bridge.client;
  }

  /**
   * A bridge that this backend attached to may have been started by an earlier process of the same
   * run.
   */
  async #startEngine(
    model: string,
    seed: number,
    overrides: readonly string[],
  ): Promise<StartedWire> {
    const { startTimeoutMs = defaults.startTimeoutMs, onProgress } = this.#options;
    const { critic = false } = this.#options.run;
    const info = (await this.#client.get("/info")) as Partial<StartedWire>;
    if (info.servers === undefined) {
      const { reference = false } = this.#options.run;
      const engine = this.#engineOptions();
      const body = { model, seed, overrides, reference, critic, engine };
      return (await this.#client.run("start", body, startTimeoutMs, onProgress)) as StartedWire;
    }
    if (critic && info.critic !== true) {
      throw new ConfigError({
        message: "The bridge was started without a critic, which algorithm.estimator=gae needs.",
        hint: "Start another bridge.",
      });
    }
    if (info.model === model) return info as StartedWire;
    throw new ConfigError({
      message: `The bridge trains "${info.model}", but model.name comes to "${model}".`,
      hint: "Start another bridge for another model.",
      fields: { bridge: info.model, model },
    });
  }

  #run(name: string, body: object | Uint8Array<ArrayBuffer>): Promise<unknown> {
    return this.#client.run(name, body, this.#options.timeoutMs ?? defaults.timeoutMs);
  }

  #overridesFor({ lora }: ModelSpec): string[] {
    const overrides = verlOverrides(this.#options);
    if (lora === null) return overrides;
    // Rollouts come over HTTP, where an adapter would have to be requested by name: merged, all
    // get it.
    return [
      ...overrides,
      `actor_rollout_ref.model.lora_rank=${lora.rank}`,
      `actor_rollout_ref.model.lora_alpha=${lora.alpha}`,
      "actor_rollout_ref.model.lora.merge=true",
      ...(lora.targets === undefined
        ? []
        : [`actor_rollout_ref.model.target_modules=[${lora.targets.join(",")}]`]),
    ];
  }

  #engineOptions(): Readonly<Record<string, unknown>> {
    const { rayAddress, setupHook, engineOptions = {} } = this.#options;
    return {
      ...engineOptions,
      ...defined({ ray_address: rayAddress, setup_hook: setupHook }),
    };
  }

  async #findModel({ model, signal }: RunContext): Promise<string> {
    const path = resolve(model.name);
    if (existsSync(join(path, "config.json"))) return path;
    const id = existsSync(path) ? null : parseModelId(model.name);
    if (id !== null) {
      return resolveModel(id, { signal, ...defined({ onProgress: this.#options.onPull }) });
    }
    throw new ModelError({
      message: `"${model.name}" is not a model folder: ${join(path, "config.json")} does not exist.`,
      hint: "Give a folder in Hugging Face layout that every machine can read, or OWNER/NAME on a hub.",
      fields: { name: model.name, path },
    });
  }

  /** verl creates its optimizer once, so only the learning rate can change. */
  #checkOptim(optim: OptimSpec): void {
    const { optim: started } = this.#options.run;
    const changed = fixed.find((name) => optim[name] !== started[name]);
    if (changed === undefined) return;
    throw new ConfigError({
      message: `The optimizer began with ${changed}=${started[changed]} and cannot change to ${optim[changed]}.`,
      hint: "Give the backend the run's own values in run.optim.",
      fields: { option: changed, before: started[changed], now: optim[changed] },
    });
  }
}
