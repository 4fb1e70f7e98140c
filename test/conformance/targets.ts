/** What answers behind the gateway: the axis of targets. Each says the scripted answers, token by token. */
import type { GatewayOptions } from "../../src/gateway/index.ts";
import {
  byteRenderer,
  byteTokens,
  scriptedLogprob,
  scriptedTarget,
} from "../../src/testing/index.ts";

export interface ScriptedTarget {
  readonly target: GatewayOptions["target"];
  close(): Promise<void>;
}

export interface ConformanceTarget {
  readonly name: string;
  /** Answers call k with `answers[k]`; with the last one when there are more calls. */
  create(answers: readonly string[], contextLength: number): Promise<ScriptedTarget>;
}

export const targets: readonly ConformanceTarget[] = [
  {
    name: "sampler",
    create: async (answers, contextLength) => ({
      target: scriptedTarget(({ index }) => answers[Math.min(index, answers.length - 1)] ?? "", {
        contextLength,
        weightVersion: 3,
      }),
      close: async () => undefined,
    }),
  },
];

/** The ids that are drawn for this answer, its end included. */
export function drawnIds(answer: string, limit: number = Number.POSITIVE_INFINITY): number[] {
  return [...new TextEncoder().encode(answer), byteTokens.turnEnd].slice(0, limit);
}

export function drawnLogprobs(ids: readonly number[]): number[] {
  return ids.map((id, i) => scriptedLogprob(id, i));
}

export const renderer = byteRenderer();
