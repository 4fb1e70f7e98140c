/** `start`: from the call of the program to the first sampled text of SmolLM2, its weights in the cache of the disk. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { hasLlama, publishedModel } from "../engine-llama/llama-files.ts";
import type { Benchmark } from "../harness/benchmark.ts";
import { goalOf } from "../harness/kernel-goals.ts";
import { atMost, result } from "../harness/result.ts";
import { median } from "../harness/statistics.ts";

const program = fileURLToPath(new URL("../../dist/cli/main.js", import.meta.url));

/** Seconds until the first text of a response is printed. @throws Error when nothing is */
async function secondsToFirstText(model: string): Promise<number> {
  const start = performance.now();
  const args = [program, "chat", model, "--temperature", "0", "--max-tokens", "8"];
  const child = spawn(process.execPath, args, { stdio: ["pipe", "pipe", "ignore"] });
  const kill = (): void => void child.kill("SIGKILL");
  process.once("exit", kill);
  child.stdin.end("What is the capital of France?\n");
  let seconds: number | undefined;
  child.stdout.on("data", () => (seconds ??= (performance.now() - start) / 1000));
  const [code] = (await once(child, "close")) as [number | null];
  process.removeListener("exit", kill);
  if (code !== 0 || seconds === undefined)
    throw new Error(`agent-trainer chat ended with ${code} and printed nothing.`);
  return seconds;
}

export const start: Benchmark = {
  name: "start",
  summary: "seconds from the call of the program to the first sampled text",
  repetitions: 5,
  async run({ repetitions }, log) {
    if (!hasLlama()) {
      log("There is no model to sample from: npm run bench:setup:llama fetches it.");
      return [];
    }
    const models = { "shop-tiny": "builtin:shop-tiny", "SmolLM2-135M-Instruct": publishedModel };
    const results = [];
    for (const [name, model] of Object.entries(models)) {
      log(`${name} ...`);
      // The first call reads the files from the disk and is not measured.
      await secondsToFirstText(model);
      const seconds: number[] = [];
      for (let i = 0; i < repetitions; i++) seconds.push(await secondsToFirstText(model));
      const goal = atMost(goalOf({ native: 1, portable: 1.5 }));
      results.push(result(`${name}: first text after the start`, "s", median(seconds), goal));
    }
    return results;
  },
};
