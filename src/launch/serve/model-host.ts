/**
 * One served model: its weights, a gateway without a socket in front of them, and its newer checkpoints. Where roles
 * have adapters, each role is a separate model on the same weights.
 */
import { adaptersOf } from "../../config/adapter-map.ts";
import type { InferenceTarget } from "../../core/backend.ts";
import { overlay } from "../../core/overlay.ts";
import type { Sampler } from "../../core/policy.ts";
import { defined } from "../../util/defined.ts";
import { ConfigError } from "../../core/errors.ts";
import { evaluationConfig } from "../evaluate/evaluation-config.ts";
import { locateModel, type LocatedModel } from "../evaluate/locate-model.ts";
import { namesStep } from "../evaluate/open-checkpoint.ts";
import { type StartedModel, startModel } from "../evaluate/start-model.ts";
import { createGateway, type Gateway } from "../../gateway/gateway.ts";
import type { Checkpoint } from "../../runs/checkpoint.ts";
import { shortModelName } from "../../util/model-name.ts";
import { Conversations, type ModelRequest } from "./conversations.ts";
import type { ModelServerOptions, ServedModelSpec } from "./serve-options.ts";

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

/** The target, sampled from an adapter; null is the base alone. */
export function adaptedTarget(target: InferenceTarget, adapter: string | null): InferenceTarget {
  if (target.kind === "http") return target;
  const { sampler } = target;
  const sample: Sampler["sample"] = (request) => sampler.sample({ ...request, adapter });
  return overlay(target, { sampler: overlay(sampler, { sample }) });
}

/** A run, of which a newer checkpoint may take the place of the one that was found. */
const isFollowable = (model: ServedModelSpec["model"]): model is string =>
  typeof model === "string" && !namesStep(model);

export class ModelHost implements AsyncDisposable {
  readonly name: string;
  /** Where it is from, for people. */
  readonly label: string;
  /** The path of a run or of one of its checkpoints, as it was given; null for what has none. */
  readonly runPath: string | null;
  readonly #gateway: Gateway;
  readonly #started: StartedModel;
  readonly #conversations: Conversations;
  /** Of its roles, which it swaps and closes with itself. */
  readonly #roles: readonly ModelHost[];
  #step: number | null;

  private constructor(
    { name, located, given }: NamedModel,
    parts: {
      readonly gateway: Gateway;
      readonly started: StartedModel;
      readonly roles: readonly ModelHost[];
    },
  ) {
    this.name = name;
    this.#roles = parts.roles;
    this.label =
      located.kind === "config" ? name : "label" in located ? located.label : located.name;
    const isRun = located.kind === "checkpoint" && typeof given === "string";
    this.runPath = isRun ? given : null;
    this.#step = parts.started.checkpoint?.state.step ?? null;
    this.#gateway = parts.gateway;
    this.#started = parts.started;
    this.#conversations = new Conversations(parts.gateway);
  }

  /** @throws ModelError, CheckpointError, ConfigError, HubError */
  static async open(
    named: NamedModel,
    options: Omit<ModelServerOptions, "models">,
  ): Promise<ModelHost> {
    const { name, located, given } = named;
    const resolved = evaluationConfig({}, located);
    const {
      threads,
      precision,
      signal = new AbortController().signal,
      onPull,
      onWarning,
      onError,
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
    const open = (own: string, target: InferenceTarget, roles: readonly ModelHost[]): ModelHost => {
      const gateway = createGateway({
        target,
        model: own,
        sessionIdleMs,
        onWarning: (message) => onWarning?.(`${own}: ${message}`),
        ...(onError === undefined ? {} : { onError }),
      });
      gateway.setWeightVersion(started.weightVersion);
      // A role is swapped with its model, so it has no path to follow.
      const model = own === name ? named : { ...named, name: own, given: { name: own, url: "" } };
      return new ModelHost(model, { gateway, started, roles });
    };
    try {
      const adapters = located.kind === "checkpoint" ? config.model.adapterByRole : [];
      const roles = Array.from(adaptersOf(adapters), ([role, adapter]) =>
        open(`${name}/${role}`, adaptedTarget(started.target, adapter), []),
      );
      return open(name, started.target, roles);
    } catch (error) {
      await started[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** Step of the checkpoint that is served; null for what is no checkpoint. */
  get step(): number | null {
    return this.#step;
  }

  /** Itself, and a model for each role that has an adapter. */
  get all(): readonly ModelHost[] {
    return [this, ...this.#roles];
  }

  respond(request: ModelRequest): Promise<Response> {
    return this.#conversations.respond(request);
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
      throw new ConfigError({ message: `${this.name} is no run, so it has no other checkpoint.` });
    }
    const { all } = this;
    await Promise.all(all.map((host) => host.#gateway.pause(drainMs)));
    try {
      const version = await load(checkpoint);
      for (const host of all) {
        host.#gateway.setWeightVersion(version);
        host.#step = checkpoint.state.step;
      }
    } finally {
      for (const host of all) host.#gateway.resume();
    }
  }

  /** Refuses new calls and waits for those in flight; resolves with how many are left. */
  drain(limitMs: number): Promise<number> {
    return this.#gateway.drain(limitMs);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.all.map((host) => host.#gateway.close()));
    await this.#started[Symbol.asyncDispose]();
  }
}
