/**
 * Calls of a session that ended without a response, until they are repeated with success. A framework may
 * swallow an error; the rollout that goes on without a response is to say so.
 */
import { hash } from "node:crypto";
import type { FailedCall } from "../../core/trajectory.ts";
import type { CallRequest } from "../call/call-request.ts";
import { toApiError } from "../http/api-error.ts";
import { chainMessages } from "./conversation.ts";

/** What of a call tells its repetition. */
export interface CallTarget {
  /** Null where the request was refused before it was read. */
  readonly request: Pick<CallRequest, "messages" | "rawPrompt" | "tools"> | null;
  readonly trajectoryUid: string | null;
}

/** Failures after it are not distinguished any more. */
const maxKept = 100;
const longestMessage = 1000;

/** Of one trajectory: clients repeat what found no room, without having been read. */
const unread = (uid: string | null): string => `unread:${uid ?? ""}`;

function keyOf({ request, trajectoryUid }: CallTarget): string {
  if (request === null) return unread(trajectoryUid);
  const { messages, tools, rawPrompt } = request;
  const raw = rawPrompt === undefined ? "" : hash("sha1", JSON.stringify(rawPrompt));
  return `${trajectoryUid ?? ""}:${raw}:${chainMessages(messages, tools).at(-1)}`;
}

/** Of a prompt that did not fit: agents shorten what came before its last message and send it again. */
function shortenedKey({ request, trajectoryUid }: CallTarget): string | null {
  const last = request?.messages.at(-1);
  if (last === undefined) return null;
  return `shortened:${trajectoryUid ?? ""}:${chainMessages([last], []).at(-1)}`;
}

export class FailedCalls {
  readonly #failures = new Map<string, FailedCall>();
  readonly #seen = new WeakSet<object>();
  #count = 0;

  /** In the order of their first failure. */
  list(): readonly FailedCall[] {
    return [...this.#failures.values()];
  }

  /** The same error counts once, wherever it passes. */
  failed(error: unknown, call: CallTarget, isOfClient = false): void {
    if (typeof error !== "object" || error === null || this.#seen.has(error)) return;
    this.#seen.add(error);
    const { status, message, reason } = toApiError(error);
    // What was refused for what it says is not repeated as it is.
    const isFinal = call.request === null && status < 500 && status !== 408 && status !== 429;
    const isTooLong = reason === "context_length_exceeded";
    const key = isFinal
      ? `refused:${this.#count++}`
      : ((isTooLong ? shortenedKey(call) : null) ?? keyOf(call));
    if (this.#failures.has(key) || this.#failures.size >= maxKept) return;
    this.#failures.set(key, {
      message: message.slice(0, longestMessage),
      status: isOfClient ? null : status,
    });
  }

  succeeded(call: CallTarget): void {
    if (this.#failures.size === 0) return;
    this.#failures.delete(keyOf(call));
    this.#failures.delete(unread(call.trajectoryUid));
    const shortened = shortenedKey(call);
    if (shortened !== null) this.#failures.delete(shortened);
  }
}
