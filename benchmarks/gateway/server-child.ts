/** Child: the gateway in front of a sampler that answers at once, or the least that could answer. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { createGateway } from "../../src/gateway/index.ts";
import { createScriptedTarget } from "../../src/testing/index.ts";
import { answer } from "../harness/child-side.ts";

export type ServerInput =
  | { readonly kind: "gateway"; readonly completion: string }
  | { readonly kind: "bare"; readonly body: string };

export interface ServerOutput {
  readonly url: string;
  /** Empty for the bare server. */
  readonly adminToken: string;
}

async function startGateway(completion: string): Promise<ServerOutput> {
  const gateway = createGateway({
    target: createScriptedTarget(() => completion),
    model: "scripted",
  });
  const { url } = await gateway.listen();
  return { url, adminToken: gateway.adminToken };
}

/** Reads each request to its end and answers `body`. */
async function startBare(body: string): Promise<ServerOutput> {
  const bytes = Buffer.from(body);
  const headers = { "content-type": "application/json", "content-length": bytes.length };
  const server = createServer((request, response) => {
    request.resume().once("end", () => response.writeHead(200, headers).end(bytes));
  });
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, adminToken: "" };
}

answer((input: ServerInput) =>
  input.kind === "gateway" ? startGateway(input.completion) : startBare(input.body),
);
