/**
 * After many calls of every kind nothing is left: no socket, timer, session or memory. `SOAK=1` makes it
 * 50,000 calls.
 */
import { getActiveResourcesInfo } from "node:process";
import { setTimeout as delay } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, it } from "vitest";
import { createUpstream, type Fault } from "../../../src/testing/index.ts";
import { openWorld, renderer } from "../http-world.ts";

const calls = process.env["SOAK"] === "1" ? 17_000 : 480;
const messages = [{ role: "user", content: "a question of some length ".repeat(4) }];

/** One call in five goes wrong, each in its way. */
const faults: readonly Fault[] = [
  { type: "status", status: 500 },
  { type: "reset" },
  { type: "reset", after: 30 },
  { type: "cut", after: 30 },
  { type: "content-type", contentType: "text/html" },
  { type: "stall", after: 30 },
];

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

function heapMiB(): number {
  collectGarbage();
  const { heapUsed, external } = process.memoryUsage();
  return (heapUsed + external) / 2 ** 20;
}

function count(kind: string): number {
  return getActiveResourcesInfo().filter((each) => each === kind).length;
}

it(`leaves nothing behind after ${3 * calls} calls`, { timeout: 900_000 }, async () => {
  // Other files run in this process, too.
  const [timersBefore, socketsBefore] = [count("Timeout"), count("TCPSocketWrap")];
  const upstream = await createUpstream({
    script: () => "an answer",
    fault: (call) => (call % 5 === 0 ? faults[(call / 5) % faults.length] : undefined),
  });
  const world = await openWorld({
    workers: [{ url: upstream.url }],
    renderer,
    // Long enough that only stalls meet it, however busy the machine is.
    deadlines: { betweenBytesMs: 500 },
    retryDelayMs: 1,
  });
  let failed = 0;
  const some = async (from: number, to: number): Promise<void> => {
    for (let i = from; i < to; i++) {
      const uid = `u${i}`;
      const response = await world.post({ messages, stream: i % 2 === 0 }, { uid });
      await response.text();
      if (response.status !== 200) failed++;
      await world.admin("DELETE", `/sessions/${uid}`);
    }
  };
  const buckets = 16;
  const round = calls / buckets;
  const many = (start: number): Promise<unknown> =>
    Promise.all(
      Array.from({ length: buckets }, (_, bucket) => {
        const from = start + bucket * round;
        return some(from, from + round);
      }),
    );
  // The upstream keeps what it was sent, for tests to look at.
  const heapAfter = async (start: number): Promise<number> => {
    await many(start);
    (upstream.calls as unknown[]).length = 0;
    await delay(1_000);
    return heapMiB();
  };
  // The first round also compiles code and fills pools.
  await heapAfter(0);
  const before = await heapAfter(calls);
  const after = await heapAfter(2 * calls);
  expect(failed).toBeLessThan((3 * calls) / 100);
  // A session's place at a worker is remembered, about 100 bytes of it, for the latest 100,000.
  expect(after - before).toBeLessThan(4 + calls / 5_000);
  expect(await world.admin("GET", "/sessions")).toHaveLength(1);
  expect(upstream.active).toBe(0);
  // Idle connections are let go, however many a busy moment had opened.
  await expect.poll(() => upstream.connections, { timeout: 15_000 }).toBeLessThanOrEqual(1);
  await world[Symbol.asyncDispose]();
  await upstream[Symbol.asyncDispose]();
  await expect
    .poll(() => count("TCPSocketWrap"), { timeout: 10_000 })
    .toBeLessThanOrEqual(socketsBefore);
  // What is left of fetch's own pool of connections is not the gateway's.
  expect(count("Timeout")).toBeLessThanOrEqual(timersBefore + 3);
});
