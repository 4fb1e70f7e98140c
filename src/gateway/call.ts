/**
 * One model call from request to recorded traces. Resolves only after its traces are stored; what it
 * throws was not recorded. Knows no wire format.
 */
import { randomUUID } from "node:crypto";
import type { SamplerTarget } from "../core/backend.ts";
import { AgentTrainerError } from "../core/errors.ts";
import type { Sample } from "../core/policy.ts";
import type { CallAbort } from "./call-abort.ts";
import type { CallRequest, CallResult, Completion } from "./call-request.ts";
import { recordCall } from "./capture.ts";
import { ChoiceReader } from "./choice-reader.ts";
import { readMessage } from "./completion.ts";
import type { TextDelta } from "./delta-reader.ts";
import { prepareCall, type PreparedCall } from "./prompt.ts";
import type { CaptureSession } from "./session.ts";

export interface CallContext {
  readonly target: SamplerTarget;
  readonly session: CaptureSession;
  readonly trajectoryUid: string | null;
  readonly request: CallRequest;
  readonly abort: CallAbort;
  readonly responseId: string;
  /** Text that became certain, for clients that stream. */
  readonly onDelta?: (choice: number, delta: TextDelta) => void;
  /** The prompt's length, told before anything is drawn. */
  readonly onPrompt?: (promptTokens: number) => void;
}

/** What is still to be sent of a choice after its last delta. */
export interface FinishedChoice extends Completion {
  readonly rest: TextDelta;
}

export interface FinishedCall extends CallResult {
  readonly completions: readonly FinishedChoice[];
}

/** `prefix` is what clients of a protocol know its ids by. */
export function createResponseId(prefix: string): string {
  return `${prefix}${randomUUID().replaceAll("-", "")}`;
}

function createReaders(context: CallContext, stops: readonly string[]): ChoiceReader[] | null {
  const { request, target, onDelta } = context;
  if (stops.length === 0 && !onDelta) return null;
  return Array.from(
    { length: request.n },
    (_, choice) =>
      new ChoiceReader({
        renderer: target.renderer,
        stops,
        toolsOffered: request.tools.length > 0,
        raw: request.rawPrompt !== undefined,
        ...(onDelta ? { onDelta: (delta) => onDelta(choice, delta) } : {}),
      }),
  );
}

async function draw(
  context: CallContext,
  prepared: PreparedCall,
  readers: readonly ChoiceReader[] | null,
): Promise<readonly Sample[]> {
  const { target, request, abort } = context;
  let failure: unknown;
  const samples = await abort.wait(
    target.sampler.sample({
      tokens: prepared.tokens,
      params: prepared.sampling,
      n: request.n,
      signal: abort.signal,
      ...(readers
        ? {
            onChunk: ({ index, tokens }) => {
              try {
                readers[index]?.push(tokens);
                if (readers.every((reader) => reader.stopped)) abort.abort("stop");
              } catch (error) {
                // Not to be thrown into the sampler, which serves other calls, too.
                failure ??= error;
                abort.abort("stop");
              }
            },
          }
        : {}),
    }),
  );
  if (failure !== undefined) throw failure;
  if (samples.length === request.n) return samples;
  throw new AgentTrainerError({
    code: "INTERNAL",
    message: `The sampler returned ${samples.length} samples, but ${request.n} were asked for.`,
  });
}

function finishChoice(
  context: CallContext,
  prepared: PreparedCall,
  sample: Sample,
  choice: number,
  reader: ChoiceReader | undefined,
  stops: readonly string[],
): FinishedChoice {
  const { tokens, logprobs, stopReason, weightVersion } = reader?.finish(sample) ?? sample;
  const read = readMessage(context.target.renderer, tokens, {
    raw: context.request.rawPrompt !== undefined,
    toolsOffered: context.request.tools.length > 0,
    stops: reader?.stopped === true ? stops : [],
    key: `${choice}:${prepared.drawKey}`,
  });
  const shown = reader?.deltas?.finish(read.message);
  const stopString = reader?.stopString;
  return {
    ...read,
    choice,
    stopReason,
    tokens,
    logprobs,
    weightVersion,
    ...(stopString !== undefined && context.request.stops.includes(stopString)
      ? { stopString }
      : {}),
    message: shown?.message ?? read.message,
    rest: shown?.delta ?? { content: "", reasoning: "" },
  };
}

/** @throws what rendering, the sampler or the store throws, and the abort's error. */
export async function runCall(context: CallContext): Promise<FinishedCall> {
  const { target, session, request, abort, responseId } = context;
  if (abort.cause !== null) throw abort.error();
  const prepared = prepareCall(target, session, request, context.trajectoryUid);
  context.onPrompt?.(prepared.tokens.length);
  const sequence = session.takeSequence();
  const startedAt = Date.now();
  const stops = [...request.stops, ...target.renderer.stop.strings];
  const readers = createReaders(context, stops);
  const samples = await draw(context, prepared, readers);
  if (abort.cause === "deadline" || abort.cause === "closed") throw abort.error();

  const completions = samples.map((sample, choice) =>
    finishChoice(context, prepared, sample, choice, readers?.[choice], stops),
  );
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
    { ...context, prepared, sequence, startedAt },
    completions,
    clientGone ? "client disconnected" : undefined,
  );
  if (clientGone) throw abort.error();
  return { responseId, promptTokens: prepared.tokens.length, completions };
}
