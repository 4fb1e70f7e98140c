/** One signal that ends many waits: no warning of a leak, and no listener that stays. */
import { getEventListeners } from "node:events";
import { setImmediate, setTimeout } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, it } from "vitest";
import { startDeadline } from "../core/deadline.ts";
import { delay, raceAbort, withTimeout } from "./abort.ts";

const kinds: Readonly<Record<string, (signal: AbortSignal) => Promise<unknown>>> = {
  delay: (signal) => delay(1e6, signal),
  race: (signal) => raceAbort(new Promise(() => {}), signal),
  deadline: (signal) => {
    const deadline = startDeadline("a test", 1e6, signal);
    return raceAbort(new Promise(() => {}), deadline.signal).finally(() => deadline.dispose());
  },
};

it.each(Object.entries(kinds))("ends 30 waits: %s", async (_name, wait) => {
  const warnings: string[] = [];
  const onWarning = ({ name }: Error): void => void warnings.push(name);
  process.on("warning", onWarning);
  const controller = new AbortController();
  const waits = Array.from({ length: 30 }, () => wait(controller.signal));
  controller.abort(new Error("over"));
  for (const ended of await Promise.allSettled(waits))
    expect(ended).toMatchObject({ status: "rejected", reason: { message: "over" } });
  expect(getEventListeners(controller.signal, "abort")).toEqual([]);
  // Warnings are told in a later turn.
  await setImmediate();
  process.off("warning", onWarning);
  expect(warnings).toEqual([]);
});

it("times out although garbage is collected meanwhile", async () => {
  setFlagsFromString("--expose-gc");
  const collectGarbage = runInNewContext("gc") as () => void;
  const parent = new AbortController();
  const reasons: unknown[] = [];
  const wait = (): void => {
    const signal = withTimeout(parent.signal, 200);
    signal.addEventListener("abort", () => void reasons.push((signal.reason as Error).name));
  };
  for (let wanted = 1; wanted <= 20; wanted += 1) wait();
  for (let tries = 0; tries < 200 && reasons.length < 20; tries += 1) {
    await setTimeout(20);
    collectGarbage();
  }
  expect(reasons).toEqual(Array.from({ length: 20 }, () => "TimeoutError"));
});
