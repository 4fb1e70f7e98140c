/** What goes wrong between a client and a Tinker server. */
import { AgentTrainerError, type ErrorDetails } from "../core/errors.ts";
import type { TinkerRequestName } from "./wire/fault-policy.ts";

/** Base of all errors that come from a Tinker server or from the way to it. */
export class TinkerError extends AgentTrainerError {
  override readonly name: string = "TinkerError";
  constructor(details: Omit<ErrorDetails, "code">) {
    super({ code: "TINKER_FAILED", ...details });
  }
}

/** What came over the wire is not what Tinker's API sends. */
export class TinkerWireError extends TinkerError {
  override readonly name = "TinkerWireError";
  constructor(message: string, fields: Readonly<Record<string, unknown>> = {}) {
    super({ message, fields });
  }
}

/** The server responded with an error status, and trying again does not help. */
export class TinkerStatusError extends TinkerError {
  override readonly name = "TinkerStatusError";
  readonly status: number;
  /** Tries so far, this one included. More than one: the server may have seen the request before. */
  readonly tries: number;
  constructor(
    where: TinkerRequestName & { readonly status: number },
    detail: string,
    tries: number = 1,
  ) {
    super({
      message: `${where.request} failed with status ${where.status}: ${detail}`,
      ...hintOf(where.status),
      fields: { ...where, detail },
    });
    this.status = where.status;
    this.tries = tries;
  }
}

/** The server took the request, and failed at it. */
export class TinkerRequestFailedError extends TinkerError {
  override readonly name = "TinkerRequestFailedError";
  /** Whose fault it is, as far as the server knows. */
  readonly category: string;
  constructor(where: TinkerRequestName, detail: string, category: string) {
    super({
      message: `${where.request} failed on the server (${category}): ${detail}`,
      fields: { ...where, detail, category },
    });
    this.category = category;
  }
}

/** The server no longer has the result; whether it did the work is unknown. */
export class TinkerResultGoneError extends TinkerError {
  override readonly name = "TinkerResultGoneError";
  constructor(where: TinkerRequestName) {
    super({
      message: `The result of ${where.request} is gone from the server.`,
      hint: "The server was restarted, perhaps. Resume from the last checkpoint.",
      fields: { ...where },
    });
  }
}

/** No response, in spite of all tries. */
export class TinkerUnreachableError extends TinkerError {
  override readonly name = "TinkerUnreachableError";
  constructor(where: TinkerRequestName, baseUrl: string, tries: number, cause: unknown) {
    const status = where.status === undefined ? "no response" : `status ${where.status}`;
    super({
      message: `${where.request} at ${baseUrl} had ${status} after ${tries} tries.`,
      hint: "Look whether the server runs and can be reached, then resume the run.",
      cause,
      fields: { ...where, baseUrl, tries },
    });
  }
}

/** An earlier request of this model was lost, so what the server's weights are is unknown. */
export class TinkerModelLostError extends TinkerError {
  override readonly name = "TinkerModelLostError";
  constructor(modelId: string, cause: unknown) {
    super({
      message: `Model ${modelId} takes no more requests, since an earlier one of them failed to arrive.`,
      hint: "Make a new model from the last checkpoint.",
      cause,
      fields: { modelId },
    });
  }
}

/** Snapshots of the server follow the weights that are being trained, so samples are not of the version they claim. */
export class TinkerLiveSnapshotError extends TinkerError {
  override readonly name = "TinkerLiveSnapshotError";
  /**
   * @param drift how far the log-probabilities of a fixed prompt moved in a snapshot from before an
   * optimizer step, in nats.
   * @param moved how far in the trained weights.
   */
  constructor(baseUrl: string, drift: number, moved: number) {
    super({
      message: `The Tinker server at ${baseUrl} changes snapshots after they were made: the log-probabilities of a fixed prompt moved by ${drift.toPrecision(2)} nats in a snapshot from before an optimizer step, and by ${moved.toPrecision(2)} in the trained weights.`,
      hint: "Use a server whose snapshots keep their weights, or set tinker.snapshots=live to train on this one synchronously.",
      fields: { baseUrl, drift, moved },
    });
  }
}

function hintOf(status: number): { hint?: string } {
  switch (status) {
    case 401:
    case 403:
      return { hint: "Check the key: TINKER_API_KEY, or the option apiKey." };
    case 402:
      return { hint: "The account's balance or quota is used up." };
    case 404:
      return { hint: "It may have been unloaded or deleted. Resume from the last checkpoint." };
    default:
      return {};
  }
}
