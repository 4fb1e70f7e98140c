/** Child: the gateway over one worker, and how long its main thread was blocked. */
import { monitorEventLoopDelay } from "node:perf_hooks";
import { createGateway } from "../../src/gateway/index.ts";
import { answer } from "../harness/child-side.ts";

export interface GatewayInput {
  readonly worker: string;
  /** null: never. */
  readonly offloadFrom: number | null;
}

export interface GatewayOutput {
  readonly url: string;
  readonly port: number;
  readonly adminToken: string;
}

const blocks = monitorEventLoopDelay({ resolution: 1 });

/** Of the main thread, since the last time that it was asked. */
function longestBlock(): { readonly blockMs: number } {
  const blockMs = blocks.max / 1e6;
  blocks.reset();
  return { blockMs };
}

answer(async ({ worker, offloadFrom }: GatewayInput): Promise<GatewayOutput> => {
  const gateway = createGateway({
    model: "mock",
    target: {
      kind: "http",
      workers: [{ url: worker, kind: "vllm" }],
      offloadFrom: offloadFrom ?? Infinity,
    },
  });
  const { url, port } = await gateway.listen();
  blocks.enable();
  return { url, port, adminToken: gateway.adminToken };
}, longestBlock);
