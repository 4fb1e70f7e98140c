/**
 * The bridge's HTTP API: requests, long work as operations, and its errors as ours. A request that
 * got no response is repeated with the same key, so that nothing is done twice.
 */
import { randomUUID } from "node:crypto";
import {
  type AgentTrainerError,
  CheckpointError,
  ConfigError,
  DeadlineError,
  NumericsError,
} from "../../core/errors.ts";
import { mayPass, type HttpFault } from "../../http/http-fault.ts";
import { JsonClient, type HttpCall } from "../../http/json-client.ts";
import { defined } from "../../util/defined.ts";
import { VerlError, type VerlFailure } from "./verl-error.ts";

/** A running bridge, whichever way it was started; disposing of it ends what was started here. */
export interface OpenBridge extends AsyncDisposable {
  readonly client: BridgeClient;
  /** Process id of the child; null when the bridge was attached to. */
  readonly pid: number | null;
}

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
  /** What it is doing, where that takes long. */
  readonly stage?: string;
}

const waitS = 20;
/** Where stages are reported: each is then seen soon. */
const stageWaitS = 2;
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

type Body = object | Uint8Array<ArrayBuffer>;

export class BridgeClient {
  readonly #client: JsonClient;
  readonly #lost: AbortSignal | undefined;

  constructor({ url, token }: BridgeAddress, { lost }: BridgeClientOptions = {}) {
    this.#lost = lost;
    this.#client = new JsonClient({
      baseUrl: url,
      key: token,
      timeoutMs: responseMs,
      maxBytes: maxResponseBytes,
      retry: { tries: maxTries, firstMs: retryMs, mayPass: isUnheard },
      toError: (fault, call) => faultError(url, fault, call),
    });
  }

  /** @throws VerlError when the bridge cannot be reached or refuses the request. */
  get(path: string): Promise<unknown> {
    return this.#request("GET", path);
  }

  /**
   * Runs the operation `name` and resolves with its result.
   * @param onStage called with each sentence on what it is doing
   * @throws VerlError; NumericsError; CheckpointError; ConfigError; DeadlineError after `limitMs`
   */
  async run(
    name: string,
    body: Body,
    limitMs: number,
    onStage?: (stage: string) => void,
  ): Promise<unknown> {
    const deadline = performance.now() + limitMs;
    const key = randomUUID();
    const { operation } = (await this.#request("POST", `/${name}`, body, key)) as {
      operation: string;
    };
    const mostS = onStage === undefined ? waitS : stageWaitS;
    let seen: string | undefined;
    while (performance.now() < deadline) {
      const left = (deadline - performance.now()) / 1000;
      const wait = Math.max(0, Math.min(mostS, left)).toFixed(3);
      const path = `/operations/${operation}?wait=${wait}`;
      const { state, result, error, stage } = (await this.#request("GET", path)) as Operation;
      if (state === "running" && stage !== undefined && stage !== seen) onStage?.(stage);
      seen = stage;
      if (state === "done") return result;
      if (state === "failed" && error) throw toError(name, error);
    }
    throw new DeadlineError(`The bridge's "${name}"`, limitMs, "Raise verl.timeout_s.");
  }

  /** Requests the bridge to end; does not wait for it, and ignores that it may already have ended. */
  async shutDown(): Promise<void> {
    const call = { path: "/shutdown", method: "POST", once: true, signal: this.#lost };
    await this.#client.json(call).catch(() => undefined);
  }

  #request(method: string, path: string, body?: Body, key?: string): Promise<unknown> {
    const headers = defined({ "idempotency-key": key });
    return this.#client.json({ path, method, body, headers, signal: this.#lost });
  }
}

/** The bridge's own errors are JSON. */
function wireErrorOf({ kind, text, status }: HttpFault): WireError | null {
  if (kind !== "status") return null;
  try {
    const { error } = JSON.parse(text) as { readonly error?: WireError };
    return error ?? { kind: "engine", message: `HTTP ${status}` };
  } catch {
    return null;
  }
}

/** Whether it may not have got the request, or its response was lost. */
const isUnheard = (fault: HttpFault): boolean =>
  fault.kind === "status" ? wireErrorOf(fault) === null : mayPass(fault);

function faultError(url: string, fault: HttpFault, { path }: HttpCall): AgentTrainerError {
  const error = wireErrorOf(fault);
  if (error !== null) return toError(path.slice(1), error);
  if (fault.kind === "too-large") {
    return new VerlError({
      reason: "engine",
      message: `The bridge's response to ${path} is larger than ${maxResponseBytes / 2 ** 20} MiB.`,
      fields: { url, path },
    });
  }
  return new VerlError({
    reason: "lost",
    message: `The bridge at ${url} ${fault.kind === "redirect" ? fault.message : "does not respond"}.`,
    hint: "See whether it runs and can be reached from here, then resume from the last checkpoint.",
    cause: fault,
    fields: { url },
  });
}
