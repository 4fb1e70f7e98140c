/** What answers behind the gateway: the axis of targets. Each says the scripted answers, token by token. */
import type { GatewayOptions } from "../../src/gateway/index.ts";
import {
  createByteRenderer,
  byteTokens,
  scriptedLogprob,
  createScriptedTarget,
  createUpstream,
  type Script,
  type UpstreamCall,
} from "../../src/testing/index.ts";

export interface ScriptedTarget {
  readonly target: GatewayOptions["target"];
  /** What a server was sent, in order. */
  readonly sent?: readonly UpstreamCall[];
  close(): Promise<void>;
}

export interface ConformanceTarget {
  readonly name: string;
  /** Who makes token ids of messages. */
  readonly renders: "gateway" | "server";
  /** Answers call k with `answers[k]`; with the last one when there are more calls. */
  create(responses: readonly string[], contextLength: number): Promise<ScriptedTarget>;
}

export const renderer = createByteRenderer();

function scriptOf(responses: readonly string[]): Script {
  return ({ index }) => responses[Math.min(index, responses.length - 1)] ?? "";
}

/** vLLM's protocol over HTTP, rendered by the gateway or by the server. */
function overHttp(tokenMode: "cumulative" | "server"): ConformanceTarget {
  return {
    name: `vllm, ${tokenMode}`,
    renders: tokenMode === "server" ? "server" : "gateway",
    create: async (responses, contextLength) => {
      const upstream = await createUpstream({ script: scriptOf(responses), contextLength });
      const own = tokenMode === "server" ? {} : { renderer };
      return {
        target: { kind: "http", workers: [{ url: upstream.url }], tokenMode, ...own },
        sent: upstream.calls,
        close: async () => upstream[Symbol.asyncDispose](),
      };
    },
  };
}

export const targets: readonly ConformanceTarget[] = [
  {
    name: "sampler",
    renders: "gateway",
    create: async (responses, contextLength) => ({
      target: createScriptedTarget(scriptOf(responses), { contextLength, weightVersion: 3 }),
      close: async () => undefined,
    }),
  },
  overHttp("cumulative"),
  overHttp("server"),
];

/** The ids that are drawn for this answer, its end included. */
export function sampledIds(response: string, limit: number = Number.POSITIVE_INFINITY): number[] {
  return [...new TextEncoder().encode(response), byteTokens.turnEnd].slice(0, limit);
}

export function sampledLogprobs(ids: readonly number[]): number[] {
  return ids.map((id, i) => scriptedLogprob(id, i));
}
