/**
 * The bridge's HTTP API: requests, long work as operations, and its errors as ours. A request that
 * got no response is repeated with the same key, so that nothing is done twice.
 */
import { fetchSameOrigin } from "../../http/fetch-same-origin.ts";
import { randomUUID } from "node:crypto";
import {
  AgentTrainerError,
  CheckpointError,
  ConfigError,
  DeadlineError,
  NumericsError,
} from "../../core/errors.ts";
import { withTimeout } from "../../util/abort.ts";
import { backOffMs, retry } from "../../util/retry.ts";
import { readLimited } from "../../util/read-limited.ts";
import { defined } from "../../util/defined.ts";
import { VerlError, type VerlFailure } from "./verl-error.ts";

/** Must equal the number in `python/agent_trainer_bridge/__init__.py`. */
export const bridgeProtocol = 3;

export interface BridgeAddress {
  readonly url: string;
  /** Sent as a bearer token. */
  readonly token: string;
}

export interface BridgeClientOptions {
  /** Aborts when the bridge has ended; its reason is thrown. */
  readonly lost?: AbortSignal;
}

interface WireError {
  readonly kind: string;
  readonly message: string;
  readonly traceback?: readonly string[];
}

interface Operation {
  readonly state: "queued" | "running" | "done" | "failed";
  readonly result?: unknown;
  readonly error?: WireError;
}

const waitS = 20;
const maxTries = 4;
const responseMs = 60_000;
const retryMs = 500;
/** Log probabilities of a whole batch, as JSON; V8 has no text of 512 MiB. */
const maxResponseBytes = 500 * 2 ** 20;

const failures: Readonly<Record<string, VerlFailure>> = {
  request: "refused",
  unauthorized: "refused",
  "not-found": "lost",
  conflict: "refused",
  "too-large": "refused",
  "not-ready": "refused",
};

function toError(name: string, { kind, message, traceback }: WireError): AgentTrainerError {
  if (kind === "numerics") return new NumericsError("grad_norm", Number.NaN);
  if (kind === "checkpoint") return new CheckpointError({ message });
  if (kind === "unsupported") return new ConfigError({ message, fields: { operation: name } });
  return new VerlError({
    reason: failures[kind] ?? "engine",
    message: `The bridge could not do "${name}": ${message}`,
    ...(kind === "engine"
      ? {
          hint: "Look at the traceback in the error's fields, then resume from the last checkpoint.",
        }
      : {}),
    fields: { operation: name, kind, ...defined({ traceback }) },
  });
}

export class BridgeClient {
  readonly #address: BridgeAddress;
  readonly #lost: AbortSignal | undefined;

  constructor(address: BridgeAddress, { lost }: BridgeClientOptions = {}) {
    this.#address = address;
    this.#lost = lost;
  }

  /** @throws VerlError when the bridge cannot be reached or refuses the request. */
  get(path: string): Promise<unknown> {
    return this.#request("GET", path);
  }

  /**
   * Runs the operation `name` and resolves with its result.
   * @throws VerlError; NumericsError; CheckpointError; ConfigError; DeadlineError after `limitMs`
   */
  async run(
    name: string,
    body: object | Uint8Array<ArrayBuffer>,
    limitMs: number,
  ): Promise<unknown> {
    const deadline = performance.now() + limitMs;
    const key = randomUUID();
    const { operation } = (await this.#request("POST", `/${name}`, body, key)) as {
      operation: string;
    };
    while (performance.now() < deadline) {
      const left = (deadline - performance.now()) / 1000;
      const wait = Math.max(0, Math.min(waitS, left)).toFixed(3);
      const path = `/operations/${operation}?wait=${wait}`;
      const { state, result, error } = (await this.#request("GET", path)) as Operation;
      if (state === "done") return result;
      if (state === "failed" && error) throw toError(name, error);
    }
    throw new DeadlineError(`The bridge's "${name}"`, limitMs, "Raise verl.timeout_s.");
  }

  /** Requests the bridge to end; does not wait for it, and ignores that it may already have ended. */
  async shutDown(): Promise<void> {
    await this.#send("POST", "/shutdown", undefined, undefined).catch(() => undefined);
  }

  #request(
    method: string,
    path: string,
    body?: object | Uint8Array<ArrayBuffer>,
    key?: string,
  ): Promise<unknown> {
    const waitMs = (error: unknown, failed: number): number | null => {
      if (AgentTrainerError.isInstance(error)) return null;
      if (failed === maxTries) throw unreachable(this.#address.url, error);
      return backOffMs(failed, { firstMs: retryMs });
    };
    return retry(() => this.#send(method, path, body, key), { waitMs, signal: this.#lost });
  }

  async #send(
    method: string,
    path: string,
    body?: object | Uint8Array<ArrayBuffer>,
    key?: string,
  ): Promise<unknown> {
    const isBytes = body instanceof Uint8Array;
    const response = await fetchSameOrigin(this.#address.url + path, {
      method,
      headers: {
        authorization: `Bearer ${this.#address.token}`,
        ...(body === undefined
          ? {}
          : { "content-type": isBytes ? "application/octet-stream" : "application/json" }),
        ...defined({ "idempotency-key": key }),
      },
      ...(body === undefined ? {} : { body: isBytes ? body : JSON.stringify(body) }),
      signal: withTimeout(this.#lost, responseMs),
    });
    const text = await readLimited(response, maxResponseBytes, () =>
      tooLarge(this.#address.url, path),
    );
    const reply = JSON.parse(text) as { error?: WireError };
    if (response.ok) return reply;
    const error = reply.error ?? { kind: "engine", message: `HTTP ${response.status}` };
    throw toError(path.slice(1), error);
  }
}

function tooLarge(url: string, path: string): VerlError {
  return new VerlError({
    reason: "engine",
    message: `The bridge's response to ${path} is larger than ${maxResponseBytes / 2 ** 20} MiB.`,
    fields: { url, path },
  });
}

function unreachable(url: string, cause: unknown): VerlError {
  return new VerlError({
    reason: "lost",
    message: `The bridge at ${url} does not respond.`,
    hint: "See whether it runs and can be reached from here, then resume from the last checkpoint.",
    cause,
    fields: { url },
  });
}
