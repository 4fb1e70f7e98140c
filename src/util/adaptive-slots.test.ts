import { expect, it } from "vitest";
import { AdaptiveSlots, type AdaptiveSlot } from "./adaptive-slots.ts";

const takeAll = (slots: AdaptiveSlots, count: number): Promise<AdaptiveSlot[]> =>
  Promise.all(Array.from({ length: count }, () => slots.take()));

it("halves once for all that were sent before, and grows by one for as many successes as its limit", async () => {
  const slots = new AdaptiveSlots(8);
  const first = await takeAll(slots, 8);
  for (const slot of first) slot.overloaded();
  expect(slots.limit).toBe(4);
  for (const slot of first) slot.give();
  expect(slots.limit).toBe(4);
  // The same request, sent again after the decrease, may be refused again.
  const [again] = await takeAll(slots, 1);
  again!.overloaded();
  again!.overloaded();
  expect(slots.limit).toBe(1);
  again!.give();
  for (const [successes, limit] of [
    [1, 2],
    [2, 2],
    [1, 3],
  ] as const) {
    for (let i = 0; i < successes; i++) (await slots.take()).give();
    expect(slots.limit).toBe(limit);
  }
  for (let i = 0; i < 100; i++) (await slots.take()).give();
  expect(slots.limit).toBe(8);
});

it("never admits more than the limit, and serves who waits in order", async () => {
  const slots = new AdaptiveSlots(2);
  const [a, b] = await takeAll(slots, 2);
  const entered: number[] = [];
  const waiting = [1, 2, 3].map(async (name) => {
    const slot = await slots.take();
    entered.push(name);
    return slot;
  });
  a!.overloaded();
  a!.give();
  await Promise.resolve();
  // One is still in flight, and one is the limit.
  expect(entered).toEqual([]);
  b!.give();
  (await waiting[0])!.give();
  (await waiting[1])!.give();
  (await waiting[2])!.give();
  expect(entered).toEqual([1, 2, 3]);
});

it("leaves the line when it is aborted", async () => {
  const slots = new AdaptiveSlots(1);
  const held = await slots.take();
  const controller = new AbortController();
  const left = slots.take(controller.signal);
  const next = slots.take();
  controller.abort(new Error("enough"));
  await expect(left).rejects.toThrow("enough");
  held.give();
  held.give();
  (await next).give();
  expect(slots.limit).toBe(1);
});
