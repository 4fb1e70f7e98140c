/**
 * Child: a server that answers as vLLM does, from bytes that were made before. On bare sockets, so that
 * it costs as little as can be beside what is measured.
 */
import { createServer, type AddressInfo, type Socket } from "node:net";
import { answer as response } from "../harness/child-side.ts";
import { MessageFraming } from "./http-framing.ts";
import { longBodyBytes, longCall, pacedMaxTokens, pacedMs, shortCall } from "./sizes.ts";
import { createResponse, type VllmResponse } from "./vllm-answers.ts";

export interface MockOutput {
  readonly url: string;
  readonly pid: number;
}

/** Different ones, so that no store can keep one prompt for all. */
const variants = 64;

function json(status: string, value: object): Buffer {
  const body = JSON.stringify(value);
  const head = `HTTP/1.1 ${status}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}`;
  return Buffer.from(`${head}\r\n\r\n${body}`);
}

const isPaced = new RegExp(`"max_tokens": ?${pacedMaxTokens}\\b`, "u");
const notFound = json("404 Not Found", { detail: "Not Found" });
const pages: Readonly<Record<string, Buffer>> = {
  "get /health": json("200 OK", {}),
  "get /version": json("200 OK", { version: "0.11.0" }),
  "get /v1/models": json("200 OK", {
    object: "list",
    data: [{ id: "mock", object: "model", owned_by: "vllm", max_model_len: 32_768 }],
  }),
};

class Mock {
  readonly #short: readonly VllmResponse[];
  readonly #long: readonly VllmResponse[];
  #next = 0;

  constructor() {
    const make = (_: unknown, i: number): number => 10 * i;
    const seeds = Array.from({ length: variants }, make);
    this.#short = seeds.map((seed) => createResponse(shortCall, seed));
    this.#long = seeds.map((seed) => createResponse(longCall, seed + 5));
  }

  accept(socket: Socket): void {
    const framing = new MessageFraming(true);
    socket.setNoDelay(true);
    socket.on("error", () => socket.destroy());
    socket.on("data", (chunk) => {
      if (!framing.push(chunk)) return;
      const body = framing.take();
      const bytes = this.#response(framing.head, body);
      if (isPaced.test(body.toString("latin1"))) setTimeout(() => socket.write(bytes), pacedMs);
      else socket.write(bytes);
    });
  }

  #response(head: string, body: Buffer): Buffer {
    const request = head.slice(0, head.indexOf(" http/1.1"));
    if (request !== "post /v1/chat/completions") return pages[request] ?? notFound;
    const isLong = body.length > longBodyBytes;
    const variant = (isLong ? this.#long : this.#short)[this.#next++ % variants] as VllmResponse;
    if (!body.includes('"stream":true') && !body.includes('"stream": true')) return variant.whole;
    return body.includes("continuous_usage_stats") ? variant.countedStream : variant.stream;
  }
}

response(async () => {
  const mock = new Mock();
  const server = createServer((socket) => {
    mock.accept(socket);
  });
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, pid: process.pid } satisfies MockOutput;
});
