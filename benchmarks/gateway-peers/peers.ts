/** The peers: rLLM's gateway and the proxy of LiteLLM, as installed by `npm run bench:setup`. */
import { existsSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { ConfigError } from "../../src/core/errors.ts";
import { requestJson, inParallel } from "./admin-client.ts";
import type { Contender } from "./contender.ts";
import { toCaptured } from "./our-gateway.ts";
import { freePort, startServer } from "./server-process.ts";

const environment = fileURLToPath(new URL("../../.cache/bench-peers", import.meta.url));
const bin = (name: string): string => join(environment, "bin", name);

/** Name to version. @throws ConfigError when they are not installed. */
export async function peerVersions(): Promise<Readonly<Record<string, string>>> {
  const list = join(environment, "installed.txt");
  if (!existsSync(list)) {
    throw new ConfigError({
      message: "The gateways to compare with are not installed.",
      hint: "Run: npm run bench:setup",
    });
  }
  const lines = (await readFile(list, "utf8")).trim().split("\n");
  return Object.fromEntries(lines.map((line) => line.split("==") as [string, string]));
}

/** `db`: a file; absent for its store in memory. */
export async function startRllm(workerUrl: string, db?: string): Promise<Contender> {
  const port = await freePort();
  const store = db === undefined ? ["--store", "memory"] : ["--store", "sqlite", "--db-path", db];
  const address = ["--host", "127.0.0.1", "--port", String(port)];
  const server = await startServer({
    command: bin("rllm-model-gateway"),
    args: ["--worker", workerUrl, ...store, ...address, "--log-level", "error"],
    port,
    healthPath: "/health",
  });
  const { url } = server;
  let sessions = 0;
  const sessionOf = (path: string): string => path.slice(0, path.indexOf("/v1/"));
  return {
    ...server,
    name: db === undefined ? "rLLM, memory" : "rLLM, SQLite",
    // A session begins with its first call.
    open: async (count) =>
      Array.from({ length: count }, () => ({
        path: `/sessions/bench-${sessions++}/v1/chat/completions`,
        token: "none",
      })),
    async settle() {
      await requestJson(`${url}/admin/flush`, { method: "POST", body: {} });
    },
    async captured({ path }) {
      const traces = await requestJson(`${url}${sessionOf(path)}/traces`);
      return toCaptured(traces as Parameters<typeof toCaptured>[0]);
    },
    async close(targets) {
      await inParallel(targets, ({ path }) =>
        requestJson(url + sessionOf(path), { method: "DELETE" }),
      );
    },
  };
}

const litellmKey = "sk-0123456789abcdef0123456789abcdef0123456789abcdef";

/** It captures nothing: what a proxy costs that only passes calls on. */
export async function startLitellm(workerUrl: string, folder: string): Promise<Contender> {
  const port = await freePort();
  const config = join(folder, "litellm.yaml");
  const params = { model: "hosted_vllm/mock", api_base: `${workerUrl}/v1`, api_key: "none" };
  // YAML reads JSON.
  await writeFile(
    config,
    JSON.stringify({ model_list: [{ model_name: "mock", litellm_params: params }] }),
  );
  const server = await startServer({
    command: bin("litellm"),
    args: [
      "--config",
      config,
      "--host",
      "127.0.0.1",
      "--port",
      String(port),
      "--telemetry",
      "False",
    ],
    env: {
      LITELLM_LOG: "ERROR",
      LITELLM_MASTER_KEY: litellmKey,
      LITELLM_LOCAL_MODEL_COST_MAP: "True",
      PATH: `${join(environment, "bin")}:${process.env["PATH"] ?? ""}`,
    },
    port,
    healthPath: "/health/liveliness",
  });
  return {
    ...server,
    name: "LiteLLM",
    open: () => Promise.resolve([{ path: "/v1/chat/completions", token: litellmKey }]),
    settle: () => Promise.resolve(),
    captured: () => Promise.resolve(null),
    close: () => Promise.resolve(),
  };
}
