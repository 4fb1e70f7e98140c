/** What a probe of a Tinker server found out. */
import type { TinkerClient } from "../../tinker-api/client.ts";
import type { TrainingClient } from "../../tinker-api/training-client.ts";
import { TinkerError, TinkerUnreachableError } from "../../tinker-api/tinker-error.ts";

/**
 * `yes`: as the Tinker service documents it; `no`: refused, or without an effect; `differs`: done in
 * another way; `unknown`: the probe could not tell.
 */
export type Verdict = "yes" | "no" | "differs" | "unknown";

export interface Finding {
  readonly topic: Topic;
  /** What was asked for, in the API's words. */
  readonly name: string;
  readonly verdict: Verdict;
  /** What the server does, with its values. */
  readonly detail: string;
}

export const topics = ["routes", "losses", "optimizer", "sampling", "snapshots"] as const;

type Topic = (typeof topics)[number];

export type Answer = Omit<Finding, "topic" | "name">;

/** What probes work on: a separate model, which is trained and thrown away. */
export interface ProbeContext {
  readonly client: TinkerClient;
  readonly model: TrainingClient;
  readonly baseModel: string;
  readonly signal: AbortSignal;
  /** Status of a request without a body, or with one. */
  readonly statusOf: (method: "GET" | "POST", route: string, body?: object) => Promise<number>;
}

export interface Probe {
  readonly topic: Topic;
  readonly name: string;
  readonly ask: (context: ProbeContext) => Promise<Answer>;
}

export const yes = (detail: string): Answer => ({ verdict: "yes", detail });
export const no = (detail: string): Answer => ({ verdict: "no", detail });
export const differs = (detail: string): Answer => ({ verdict: "differs", detail });
export const unknown = (detail: string): Answer => ({ verdict: "unknown", detail });

/** A refusal is an answer; what ends the connection or the run is not. */
export async function ask(probe: Probe, context: ProbeContext): Promise<Finding> {
  const { topic, name } = probe;
  try {
    return { topic, name, ...(await probe.ask(context)) };
  } catch (error) {
    context.signal.throwIfAborted();
    if (!(error instanceof TinkerError)) throw error;
    if (error instanceof TinkerUnreachableError) return { topic, name, ...unknown(error.message) };
    return { topic, name, ...no(`refused: ${error.message}`) };
  }
}

/** Largest difference of two lists, in their unit. */
export function distance(a: ArrayLike<number>, b: ArrayLike<number>): number {
  if (a.length !== b.length) return Infinity;
  return Array.from(a).reduce((most, value, i) => Math.max(most, Math.abs(value - b[i]!)), 0);
}

/** Three digits, for a report. */
export const short = (value: number): string => String(Number(value.toPrecision(3)));
