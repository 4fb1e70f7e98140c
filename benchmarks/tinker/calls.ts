/** What a call of the client costs more than the two requests that it is made of. */
import { createTinkerClient } from "../../src/tinker-api/client.ts";
import { startChild } from "../harness/child.ts";
import { atMost, result, type Result } from "../harness/result.ts";
import { median, percentile } from "../harness/statistics.ts";
import type { ServerOutput } from "./server-child.ts";

interface Recorded {
  readonly input: string;
  readonly init: RequestInit;
}

interface Measured {
  readonly addedMs: number;
  readonly bareMs: number;
}

const serverFile = new URL("server-child.ts", import.meta.url);

async function timed(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

/** The same bytes by `fetch` alone, one after the other as the call sent them. */
async function replay(requests: readonly Recorded[]): Promise<void> {
  for (const { input, init } of requests) {
    const { signal: _deadline, ...rest } = init;
    await (await fetch(input, rest)).arrayBuffer();
  }
}

async function measure(
  recorded: Recorded[],
  call: () => Promise<unknown>,
  times: number,
): Promise<Measured> {
  recorded.length = 0;
  await call();
  const requests = [...recorded];
  const ours = new Float64Array(times);
  const bare = new Float64Array(times);
  // In turns, so that whatever else the machine does disturbs both.
  for (let i = 0; i < times; i++) {
    ours[i] = await timed(call);
    bare[i] = await timed(() => replay(requests));
  }
  const bareMs = percentile(bare, 0.5);
  return { addedMs: percentile(ours, 0.5) - bareMs, bareMs };
}

export async function measureCalls(times: number, repetitions: number): Promise<readonly Result[]> {
  const server = await startChild<ServerOutput>(serverFile, {});
  const recorded: Recorded[] = [];
  const client = await createTinkerClient({
    baseUrl: server.output.url,
    apiKey: "tml-benchmark",
    fetch: (input, init) => {
      recorded.push({ input, init });
      return fetch(input, init);
    },
  });
  const model = await client.createModel({ baseModel: "any" });
  const sampler = await model.createSampler();
  const prompt = Int32Array.from({ length: 512 }, (_, i) => i * 97);
  const calls: readonly (readonly [string, () => Promise<unknown>])[] = [
    ["sample, 512 + 128 tokens", () => sampler.sample(prompt, { maxTokens: 128 })],
    ["optim_step", () => model.optimStep({ learningRate: 1e-4 })],
  ];
  const results: Result[] = [];
  for (const [name, call] of calls) {
    const rounds: Measured[] = [];
    for (let i = 0; i <= repetitions; i++) {
      const measured = await measure(recorded, call, times);
      if (i > 0) rounds.push(measured);
    }
    const added = median(rounds.map(({ addedMs }) => addedMs));
    results.push(
      result(`${name}: added to p50`, "ms", added, atMost(1)),
      result(`${name}: bare p50`, "ms", median(rounds.map(({ bareMs }) => bareMs))),
    );
  }
  client.close();
  await server.stop();
  return results;
}
