/**
 * A backend of one's own, of two halves: the embedded engine trains, vLLM samples. New weights go to
 * vLLM through the disk, by a route that it offers in development mode only.
 */
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import type { TrainingBackend } from "../../../src/core/backend.ts";
import { createLocalBackend } from "../../../src/backends/local/index.ts";
import { loadRenderer } from "../../../src/models/renderers/load.ts";
import type { VllmServer } from "./vllm-server.ts";

async function post(url: string, body: object): Promise<void> {
  const answer = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(120_000),
  });
  expect([answer.status, await answer.text()]).toEqual([200, expect.any(String)]);
}

/** `folder` takes what is exchanged. */
export function vllmBackend(vllm: VllmServer, folder: string): TrainingBackend {
  const local = createLocalBackend({ precision: "f32" });
  return {
    name: "local behind vllm",
    capabilities: local.capabilities,
    async start(run) {
      await local.start(run);
      const renderer = await loadRenderer(vllm.modelFolder);
      return { kind: "http", workers: [{ url: vllm.url, kind: "vllm" }], renderer };
    },
    updatePolicy: (rows, loss, optim) => local.updatePolicy(rows, loss, optim),
    async publishWeights() {
      const version = await local.publishWeights();
      const weights = join(folder, String(version));
      mkdirSync(weights, { recursive: true });
      await local.saveState(weights);
      await post(`${vllm.url}/collective_rpc`, {
        method: "reload_weights",
        kwargs: { weights_path: weights },
      });
      await post(`${vllm.url}/reset_prefix_cache`, {});
      rmSync(weights, { recursive: true });
      return version;
    },
    saveState: (target) => local.saveState(target),
    loadState: (source, version) => local.loadState(source, version),
    [Symbol.asyncDispose]: () => local[Symbol.asyncDispose](),
  };
}
