/** What `agent-trainer improve` hands over: each newer model takes the place of the previous one. */
import { setTimeout as sleep } from "node:timers/promises";
import { readHandedOver } from "../../runs/rounds/handed-over.ts";
import {
  type HostOptions,
  ModelHost,
  nameModel,
  type NamedModel,
  type ServedModel,
} from "./model-host.ts";
import type { ModelRequest } from "./model-request.ts";
import { modelVersion } from "./version.ts";

/** How long calls in flight may take when another model takes over; then they are cut off. */
const leaveMs = 60_000;

/** A folder of rounds. */
type NamedRounds = NamedModel & { readonly given: string };

export const isHandedOver = (named: NamedModel): named is NamedRounds =>
  typeof named.given === "string" && readHandedOver(named.given) !== null;

export class HandedOverModel implements ServedModel {
  readonly name: string;
  readonly #folder: string;
  readonly #options: HostOptions;
  /** Models that another has taken the place of, until their calls in flight have finished. */
  readonly #leaving = new Set<Promise<void>>();
  #host: ModelHost;

  private constructor(host: ModelHost, folder: string, options: HostOptions) {
    this.name = host.name;
    this.#host = host;
    this.#folder = folder;
    this.#options = options;
  }

  /** @throws what `ModelHost.open` throws */
  static async open(named: NamedRounds, options: HostOptions): Promise<HandedOverModel> {
    return new HandedOverModel(await ModelHost.open(named, options), named.given, options);
  }

  /** Serves what was handed over last, if that is another model than the one that is served. */
  async update(): Promise<void> {
    const found = await nameModel({ name: this.name, model: this.#folder });
    if (modelVersion(found.located) === this.#host.version) return;
    const next = await ModelHost.open(found, this.#options);
    this.#leave(this.#host);
    this.#host = next;
    if (found.located.kind !== "checkpoint") return;
    const { path, state } = found.located.checkpoint;
    this.#options.onSwap?.({ model: this.name, step: state.step, checkpoint: path });
  }

  #leave(host: ModelHost): void {
    const gone = host
      .drain(leaveMs)
      .then(() => host[Symbol.asyncDispose]())
      .catch((error: unknown) => this.#options.onError?.(error))
      .finally(() => this.#leaving.delete(gone));
    this.#leaving.add(gone);
  }

  /** Runs until the signal is aborted; the same problem is reported once. */
  async follow(everyMs: number, signal: AbortSignal): Promise<void> {
    let reported = "";
    while (!signal.aborted) {
      try {
        await this.update();
        reported = "";
      } catch (error) {
        const why = error instanceof Error ? error.message : String(error);
        if (why !== reported)
          this.#options.onWarning?.(`${this.name} stays at ${this.#host.version}: ${why}`);
        reported = why;
      }
      await sleep(everyMs, undefined, { signal, ref: false }).catch(() => {});
    }
  }

  respond(request: ModelRequest): Promise<Response> {
    return this.#host.respond(request);
  }

  metrics(): Promise<string> {
    return this.#host.metrics();
  }

  drain(limitMs: number): Promise<number> {
    return this.#host.drain(limitMs);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([this.#host[Symbol.asyncDispose](), ...this.#leaving]);
  }
}
