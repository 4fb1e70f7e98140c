/** Child: answers the routes that a training loop uses, at once and from bytes made before. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { encodeSampleOutput, protoMediaType } from "../../src/tinker-api/codec/proto-codec.ts";
import { answer } from "../harness/child-side.ts";

export interface ServerOutput {
  readonly url: string;
}

interface Answer {
  readonly type: string;
  readonly bytes: Buffer;
}

function json(value: object): Answer {
  return { type: "application/json", bytes: Buffer.from(JSON.stringify(value)) };
}

function proto(bytes: Uint8Array): Answer {
  return { type: protoMediaType, bytes: Buffer.from(bytes) };
}

const sampled = 128;

/** By `X-Tinker-Request-Type`. */
const results: Readonly<Record<string, Answer>> = {
  CreateModel: json({ type: "create_model", model_id: "m" }),
  OptimStep: json({ type: "optim_step", metrics: { grad_norm: 1 } }),
  SaveWeightsForSampler: json({ path: null, sampling_session_id: "s" }),
  Sample: proto(
    encodeSampleOutput({
      sequences: [
        {
          tokens: Int32Array.from({ length: sampled }, (_, i) => i * 211),
          logprobs: new Float32Array(sampled).fill(-1.25),
          stopReason: "length",
        },
      ],
      promptLogprobs: null,
      topPromptTokens: null,
      cacheHitTokens: 0,
    }),
  ),
};

const routes: Readonly<Record<string, Answer>> = {
  "/api/v1/client/config": json({}),
  "/api/v1/create_session": json({ type: "create_session", session_id: "session" }),
};

const future = json({ request_id: "1", model_id: "m" });

async function serve(): Promise<ServerOutput> {
  const server = createServer((request, response) => {
    const type = request.headers["x-tinker-request-type"];
    const found = typeof type === "string" ? results[type] : routes[request.url ?? ""];
    const { type: mediaType, bytes } = found ?? future;
    const headers = { "content-type": mediaType, "content-length": bytes.length };
    request.resume().once("end", () => response.writeHead(200, headers).end(bytes));
  });
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

answer(serve);
