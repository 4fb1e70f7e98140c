/**
 * Child: a gateway whose responses are made up at once, and beside it what its main thread spends of processor
 * time. Wall time would count other programs of the machine.
 */
import { openSync, readSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { createGateway } from "../../src/gateway/index.ts";
import { createScriptedTarget } from "../../src/testing/index.ts";
import { answer } from "../harness/child-side.ts";

export interface ServerOutput {
  readonly url: string;
  readonly adminToken: string;
  /** Gives the `Ticks` since the last time. */
  readonly ticksUrl: string;
}

export interface Ticks {
  /** Processor time of the main thread between two timers of 1 ms, in milliseconds: the longest, descending. */
  readonly longest: readonly number[];
  readonly count: number;
}

const kept = 20;

/** Nanoseconds that this process's main thread has run, by Linux's scheduler. */
function threadClock(): () => number {
  const file = openSync(`/proc/self/task/${process.pid}/schedstat`, "r");
  const bytes = Buffer.alloc(64);
  return () => Number.parseInt(bytes.toString("latin1", 0, readSync(file, bytes, 0, 64, 0)), 10);
}

function watchTicks(): () => Ticks {
  const clock = threadClock();
  let last = clock();
  let count = 0;
  let longest: number[] = [];
  setInterval(() => {
    const now = clock();
    const ms = (now - last) / 1e6;
    last = now;
    count++;
    if (longest.length === kept && ms <= longest[kept - 1]!) return;
    longest = [...longest, ms].sort((a, b) => b - a).slice(0, kept);
  }, 1);
  return () => {
    const ticks = { longest, count };
    longest = [];
    count = 0;
    return ticks;
  };
}

answer(async (): Promise<ServerOutput> => {
  const gateway = createGateway({
    target: createScriptedTarget(() => '{"a": 1}', { keepRequests: false }),
    model: "scripted",
  });
  const { url } = await gateway.listen();
  const take = watchTicks();
  const server = createServer((_, response) => response.end(JSON.stringify(take())));
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  const { port } = server.address() as AddressInfo;
  return { url, adminToken: gateway.adminToken, ticksUrl: `http://127.0.0.1:${port}` };
});
