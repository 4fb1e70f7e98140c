/**
 * One model call from request to recorded traces. Resolves only after its traces are stored; what it
 * throws was not recorded. Knows no wire format.
 */
import { randomUUID } from "node:crypto";
import { AgentTrainerError } from "../../core/errors.ts";
import type { CallResult } from "./call-request.ts";
import { recordCall } from "./capture.ts";
import type { FinishedChoice, Target, TargetCall } from "../targets/target.ts";

export type { FinishedChoice } from "../targets/target.ts";

export interface CallContext extends TargetCall {
  readonly target: Target;
  readonly responseId: string;
  /** @see Trace.unenforced */
  readonly unenforced?: readonly string[];
}

export interface FinishedCall extends CallResult {
  readonly completions: readonly FinishedChoice[];
}

/** `prefix` is what clients of a protocol know its ids by. */
export function createResponseId(prefix: string): string {
  return `${prefix}${randomUUID().replaceAll("-", "")}`;
}

/** @throws what rendering, the target or the store throws, and the abort's error. */
export async function runCall(context: CallContext): Promise<FinishedCall> {
  const { target, session, abort, responseId } = context;
  if (abort.cause !== null) throw abort.error();
  const sequence = session.takeSequence();
  const startedAt = Date.now();
  const startedMark = performance.now();
  const { completions, untrainable, usage, ...responded } = await target.run(context);
  if (abort.cause === "deadline" || abort.cause === "closed") throw abort.error();

  const clientGone = abort.cause === "client";
  if (!clientGone && completions.some((completion) => completion.stopReason === "aborted")) {
    throw new AgentTrainerError({
      code: "ABORTED",
      message: "The sampler aborted the model call on its own.",
      hint: "It is probably shutting down.",
    });
  }
  await recordCall(
    session,
    { ...context, ...responded, ...(usage ? { usage } : {}), sequence, startedAt, startedMark },
    completions,
    clientGone ? "client disconnected" : untrainable,
  );
  if (clientGone) throw abort.error();
  return {
    responseId,
    promptTokens: usage?.promptTokens ?? responded.prepared.tokens.length,
    completions,
    ...(usage ? { usage } : {}),
  };
}
