/** One signal that ends many waits: no warning of a leak, and no listener that stays. */
import { getEventListeners } from "node:events";
import { setImmediate } from "node:timers/promises";
import { expect, it } from "vitest";
import { startDeadline } from "../core/deadline.ts";
import { delay, raceAbort } from "./abort.ts";

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
