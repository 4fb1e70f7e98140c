/** What answers behind the gateway: the axis of targets. Each says the scripted answers, token by token. */
import type { GatewayOptions } from "../../src/gateway/index.ts";
import {
  byteRenderer,
  byteTokens,
  scriptedLogprob,
  scriptedTarget,
} from "../../src/testing/index.ts";
import { startVllmStandIn, type WireRequest } from "./vllm-stand-in.ts";

export interface ScriptedTarget {
  readonly target: GatewayOptions["target"];
  /** Bodies that a server was sent, in order. */
  readonly sent?: readonly WireRequest[];
  close(): Promise<void>;
}

export interface ConformanceTarget {
  readonly name: string;
  /** Who makes token ids of messages. */
  readonly renders: "gateway" | "server";
  /** Answers call k with `answers[k]`; with the last one when there are more calls. */
  create(answers: readonly string[], contextLength: number): Promise<ScriptedTarget>;
}

export const renderer = byteRenderer();

/** vLLM's protocol over HTTP, rendered by the gateway or by the server. */
function overHttp(tokenMode: "cumulative" | "server"): ConformanceTarget {
  return {
    name: `vllm, ${tokenMode}`,
    renders: tokenMode === "server" ? "server" : "gateway",
    create: async (answers, contextLength) => {
      const { url, sent, close } = await startVllmStandIn(answers, contextLength);
      const own = tokenMode === "server" ? {} : { renderer };
      return { target: { kind: "http", workers: [{ url }], tokenMode, ...own }, sent, close };
    },
  };
}

export const targets: readonly ConformanceTarget[] = [
  {
    name: "sampler",
    renders: "gateway",
    create: async (answers, contextLength) => ({
      target: scriptedTarget(({ index }) => answers[Math.min(index, answers.length - 1)] ?? "", {
        contextLength,
        weightVersion: 3,
      }),
      close: async () => undefined,
    }),
  },
  overHttp("cumulative"),
  overHttp("server"),
];

/** The ids that are drawn for this answer, its end included. */
export function drawnIds(answer: string, limit: number = Number.POSITIVE_INFINITY): number[] {
  return [...new TextEncoder().encode(answer), byteTokens.turnEnd].slice(0, limit);
}

export function drawnLogprobs(ids: readonly number[]): number[] {
  return ids.map((id, i) => scriptedLogprob(id, i));
}
