/** What is decided about a call before anything is sampled. */
import { defaultSampling, type SamplingParams } from "../../core/policy.ts";
import { deriveSeed } from "../../util/random.ts";
import type { CaptureSession } from "../session/session.ts";
import type { CallRequest, SamplingChoice } from "./call-request.ts";

/** A call of a session. */
export interface SessionCall {
  readonly session: CaptureSession;
  readonly request: CallRequest;
  readonly trajectoryUid: string | null;
}

export interface CallPlan {
  readonly sampling: SamplingParams;
  /** The same whenever the same request is sampled, however calls are ordered; unique in the session. */
  readonly sampleKey: string;
}

/** The applied sampling; `maxTokens` is Infinity where none was given. */
type MergedSampling = Omit<SamplingParams, "rules" | "seed" | "stopTokenIds">;

/** The trainer's choice wins over the client's; of two limits, the smaller one. */
function mergeSampling(client: SamplingChoice, enforced: SamplingChoice): MergedSampling {
  const defaults: MergedSampling = { ...defaultSampling, maxTokens: Infinity };
  const pick = <K extends keyof SamplingChoice>(name: K): SamplingParams[K] =>
    enforced[name] ?? client[name] ?? defaults[name];
  return {
    temperature: pick("temperature"),
    topP: pick("topP"),
    topK: pick("topK"),
    minP: pick("minP"),
    maxTokens: Math.min(enforced.maxTokens ?? Infinity, client.maxTokens ?? Infinity),
  };
}

/**
 * Counts the call, so that the same prompt gets another seed the next time.
 * @param prompt identifies the prompt
 */
export function planCall(
  { session, request, trajectoryUid }: SessionCall,
  prompt: string,
): CallPlan {
  const { key, occurrence } = session.countPrompt(prompt, trajectoryUid);
  const seedParts = [key, occurrence, ...(request.seed === undefined ? [] : [request.seed])];
  return {
    sampleKey: `${occurrence}:${key}`,
    sampling: {
      ...mergeSampling(request.sampling, session.options.sampling),
      stopTokenIds: [],
      seed: deriveSeed(session.options.seed, ...seedParts),
    },
  };
}
