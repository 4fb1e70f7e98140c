/**
 * One model with one version of its weights at a time, and a gateway without a socket in front of them. Where roles
 * have adapters, each role is a separate model on the same weights.
 */
import { adaptersOf } from "../../config/adapter-map.ts";
import type { InferenceTarget } from "../../core/backend.ts";
import type { Sampler } from "../../core/policy.ts";
import { defined } from "../../util/defined.ts";
import { ConfigError } from "../../core/errors.ts";
import { evaluationConfig } from "../evaluate/evaluation-config.ts";
import { locateModel, type LocatedModel } from "../evaluate/locate-model.ts";
import { namesStep } from "../evaluate/open-checkpoint.ts";
import { type StartedModel, startModel } from "../evaluate/start-model.ts";
import { createGateway, type Gateway } from "../../gateway/gateway.ts";
import { createMemoryTraceStore } from "../../gateway/store/memory-trace-store.ts";
import type { TraceStore } from "../../gateway/store/trace-store.ts";
import { overlay } from "../../core/overlay.ts";
import { holdCheckpoint } from "../../runs/checkpoint-lease.ts";
import type { Checkpoint } from "../../runs/checkpoint.ts";
import { shortModelName } from "../../util/model-name.ts";
import { Conversations } from "./conversations.ts";
import type { ModelRequest } from "./model-request.ts";
import type { ServedCalls } from "./served-calls.ts";
import type { ModelServerOptions, ServedModelSpec } from "./serve-options.ts";
import { checkpointVersion, modelVersion, versionHeader } from "./version.ts";

/** How long calls in flight may take before weights change under them. */
const drainMs = 10_000;
const sessionIdleMs = 3_600_000;

/** `shop` for `runs/shop`, `runs/shop/best` and `builtin:shop`. */
function nameOf(model: ServedModelSpec["model"], located: LocatedModel): string {
  if (typeof model !== "string") return located.kind === "target" ? located.name : "model";
  if (located.kind === "target") return located.name;
  return shortModelName(model.replace(/(?:[/\\]checkpoints)?[/\\](?:best|latest)[/\\]*$/u, ""));
}

/** A model that was found, and the name it is served under. */
export interface NamedModel {
  readonly name: string;
  readonly located: LocatedModel;
  readonly given: ServedModelSpec["model"];
}

/** Finds a model without loading it. @throws ConfigError, CheckpointError or UpstreamError */
export async function nameModel({ name, model }: ServedModelSpec): Promise<NamedModel> {
  const located = await locateModel(model);
  return { name: name ?? nameOf(model, located), located, given: model };
}

/** A run, of which a newer checkpoint may take the place of the one that was found. */
const isFollowable = (model: ServedModelSpec["model"]): model is string =>
  typeof model === "string" && !namesStep(model);

/** What is served under a name. */
export interface ServedModel extends AsyncDisposable {
  readonly name: string;
  /** Never rejects: failures are responses. */
  respond(request: ModelRequest): Promise<Response>;
  /** In Prometheus' text format. */
  metrics(): Promise<string>;
  /** Refuses new calls and waits for those in flight; resolves with how many are left. */
  drain(limitMs: number): Promise<number>;
}

/** What a host needs beyond its model. */
export interface HostOptions extends Omit<ModelServerOptions, "models"> {
  /** Keeps the calls. @default none does */
  readonly calls?: ServedCalls;
}

interface HostParts {
  /** @default that of what was started */
  readonly target: InferenceTarget;
  /** @default none */
  readonly roles: readonly ModelHost[];
}

/** The target, sampled from an adapter; null is the base alone. */
export function adaptedTarget(target: InferenceTarget, adapter: string | null): InferenceTarget {
  if (target.kind === "http") return target;
  const { sampler } = target;
  const sample: Sampler["sample"] = (request) => sampler.sample({ ...request, adapter });
  return overlay(target, { sampler: overlay(sampler, { sample }) });
}

/** Roles that have adapters, and those; null is the base alone. */
export function adaptersOfModel({ located }: NamedModel): ReadonlyMap<string, string | null> {
  if (located.kind !== "checkpoint") return new Map();
  return adaptersOf(evaluationConfig({}, located).config.model.adapterByRole);
}

export class ModelHost implements ServedModel {
  readonly name: string;
  /** The path of a run or of one of its checkpoints, as it was given; null for what has none. */
  readonly runPath: string | null;
  readonly #gateway: Gateway;
  readonly #started: StartedModel;
  readonly #conversations: Conversations;
  readonly #calls: ServedCalls | undefined;
  /** Of its roles, which it swaps and closes with itself. */
  readonly #roles: readonly ModelHost[];
  /** By the number that traces have. */
  readonly #versions = new Map<number | null, string>();
  #version: string;
  #step: number | null;
  #release: (() => void) | null = null;

  private constructor(
    { name, located, given }: NamedModel,
    started: StartedModel,
    version: string,
    options: HostOptions,
    { target = started.target, roles = [] }: Partial<HostParts>,
  ) {
    this.name = name;
    this.#roles = roles;
    const isRun = located.kind === "checkpoint" && typeof given === "string";
    this.runPath = isRun ? given : null;
    this.#step = started.checkpoint?.state.step ?? null;
    this.#started = started;
    this.#calls = options.calls;
    this.#version = version;
    this.#versions.set(started.weightVersion, version);
    const { onWarning, onError } = options;
    this.#gateway = createGateway({
      target,
      model: name,
      store: this.#keeping(createMemoryTraceStore()),
      sessionIdleMs,
      onWarning: (message) => onWarning?.(`${name}: ${message}`),
      ...(onError === undefined ? {} : { onError }),
    });
    this.#gateway.setWeightVersion(started.weightVersion);
    this.#conversations = new Conversations(this.#gateway);
  }

  /** A call is kept before its response ends, so that feedback on it finds it. */
  #keeping(store: TraceStore): TraceStore {
    const calls = this.#calls;
    if (calls === undefined) return store;
    return overlay(store, {
      append: async (traces) => {
        await store.append(traces);
        const [first] = traces;
        const origin = first && this.#conversations.originOf(first.sessionUid);
        if (origin === undefined) return;
        const version = this.#versions.get(first?.weightVersion ?? null) ?? this.#version;
        await calls.add(traces, version, origin);
      },
    });
  }

  /** @throws ModelError, CheckpointError, ConfigError, HubError */
  static async open(named: NamedModel, options: HostOptions): Promise<ModelHost> {
    const { located, given } = named;
    const resolved = evaluationConfig({}, located);
    const {
      threads,
      precision,
      signal = new AbortController().signal,
      onPull,
      onWarning,
    } = options;
    const { local } = resolved.config;
    const config = {
      ...resolved.config,
      local: { ...local, ...defined({ threads, precision }) },
    };
    const started = await startModel(
      located,
      { ...resolved, config },
      {
        ...defined({ onPull, onWarning }),
        ...(isFollowable(given) ? { relocate: () => locateModel(given) } : {}),
      },
      signal,
    );
    try {
      const version = modelVersion(located, started.checkpoint);
      const roles = Array.from(adaptersOfModel(named), ([role, adapter]) => {
        const name = `${named.name}/${role}`;
        // It is swapped with its model, so it has no path to follow.
        const own = { ...named, name, given: { name, url: "" } };
        const target = adaptedTarget(started.target, adapter);
        return new ModelHost(own, started, version, options, { target });
      });
      const host = new ModelHost(named, started, version, options, { roles });
      if (started.checkpoint !== null) host.#hold(started.checkpoint);
      return host;
    } catch (error) {
      await started[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** Step of the checkpoint that is served; null for what is not a checkpoint. */
  get step(): number | null {
    return this.#step;
  }

  /** Itself, and a model for each role that has an adapter. */
  get all(): readonly ModelHost[] {
    return [this, ...this.#roles];
  }

  /** Of the weights that respond; `shop@10-1f3a9c2e` for a checkpoint. */
  get version(): string {
    return this.#version;
  }

  async respond(request: ModelRequest): Promise<Response> {
    const { body, status, headers } = await this.#conversations.respond(request);
    const response = new Response(body, { status, headers });
    // Read now: a call that waited for other weights has those.
    response.headers.set(versionHeader, this.#version);
    return response;
  }

  /** In Prometheus' text format. */
  async metrics(): Promise<string> {
    const headers = { authorization: `Bearer ${this.#gateway.adminToken}` };
    const response = await this.#gateway.fetch(
      new Request("http://127.0.0.1/metrics", { headers }),
    );
    return response.text();
  }

  /**
   * Serves another checkpoint of the same run. New calls wait for it, those in flight finish first, or continue
   * with the new weights after ten seconds; none fails.
   * @throws CheckpointError when it does not fit; the one before is served on.
   */
  async swap(checkpoint: Checkpoint): Promise<void> {
    const { load } = this.#started;
    if (load === undefined) {
      throw new ConfigError({
        message: `${this.name} is not a run, so it has no other checkpoint.`,
      });
    }
    const { all } = this;
    await Promise.all(all.map((host) => host.#gateway.pause(drainMs)));
    try {
      const weightVersion = await load(checkpoint);
      this.#hold(checkpoint);
      for (const host of all) host.#serve(checkpoint, weightVersion);
    } finally {
      for (const host of all) host.#gateway.resume();
    }
  }

  /** Its run deletes it no more, until another is served. */
  #hold(checkpoint: Checkpoint): void {
    const before = this.#release;
    this.#release = holdCheckpoint(checkpoint.path);
    before?.();
  }

  #serve(checkpoint: Checkpoint, weightVersion: number): void {
    const version = checkpointVersion(checkpoint);
    this.#gateway.setWeightVersion(weightVersion);
    this.#versions.set(weightVersion, version);
    this.#version = version;
    this.#step = checkpoint.state.step;
  }

  /** Refuses new calls and waits for those in flight; resolves with how many are left. */
  drain(limitMs: number): Promise<number> {
    return this.#gateway.drain(limitMs);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.all.map((host) => host.#gateway.close()));
    await this.#started[Symbol.asyncDispose]();
    this.#release?.();
  }
}
