/** The environment that `npm run bench:setup:vllm` makes, and vLLM in it. */
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { LineProcess } from "../harness/line-process.ts";

const at = (path: string): string =>
  fileURLToPath(new URL(`../../.cache/bench-vllm/${path}`, import.meta.url));

/** `npm run bench:setup:vllm` has been run. */
export function hasVllm(): boolean {
  return existsSync(at("installed.txt"));
}

/** Offline, with room for keys and values of 128 short sequences. */
export function startVllm(): LineProcess {
  const file = fileURLToPath(new URL("vllm_peer.py", import.meta.url));
  return new LineProcess("vLLM", at("bin/python"), [file], {
    VLLM_CPU_KVCACHE_SPACE: "1",
    VLLM_NO_USAGE_STATS: "1",
    HF_HUB_OFFLINE: "1",
  });
}
