/** The mock, started; and called without a gateway, to see what is not a gateway's. */
import { startChild } from "../harness/child.ts";
import type { Contender } from "./contender.ts";
import type { MockOutput } from "./mock-child.ts";
import { processCpuMs } from "./server-process.ts";

export interface Mock extends Contender {
  readonly url: string;
}

export async function startMock(): Promise<Mock> {
  const child = await startChild<MockOutput>(new URL("mock-child.ts", import.meta.url), {});
  const { url, pid } = child.output;
  return {
    name: "mock alone",
    url,
    port: Number(new URL(url).port),
    cpuMs: () => processCpuMs(pid),
    residentMiB: () => 0,
    open: () => Promise.resolve([{ path: "/v1/chat/completions", token: "none" }]),
    settle: () => Promise.resolve(),
    captured: () => Promise.resolve(null),
    close: () => Promise.resolve(),
    stop: () => child.stop(),
  };
}
