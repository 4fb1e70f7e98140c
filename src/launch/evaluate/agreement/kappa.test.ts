import { expect, it } from "vitest";
import { agreementOf } from "./kappa.ts";

it("is Cohen's kappa with its standard error, by hand", () => {
  // 50 proposals, two readers: 20 both yes, 15 both no, 5 and 10 apart. Chance agrees on half.
  const found = agreementOf({ bothGood: 20, rewardOnly: 5, thumbOnly: 10, bothBad: 15 });
  expect(found).toMatchObject({ n: 50, accuracy: 0.7 });
  expect(found.kappa).toBeCloseTo(0.4, 12);
  const error = Math.sqrt((0.7 * 0.3) / (50 * 0.25));
  expect(found.low).toBeCloseTo(0.4 - 1.959964 * error, 12);
  expect(found.high).toBeCloseTo(0.4 + 1.959964 * error, 12);
});

it("is 1 for the same, negative for the opposite, and nothing where one says always the same", () => {
  const none = { bothGood: 0, rewardOnly: 0, thumbOnly: 0, bothBad: 0 };
  expect(agreementOf({ ...none, bothGood: 5, bothBad: 5 }).kappa).toBe(1);
  expect(agreementOf({ ...none, rewardOnly: 5, thumbOnly: 5 }).kappa).toBe(-1);
  expect(agreementOf({ ...none, bothGood: 9, rewardOnly: 1 })).toMatchObject({
    accuracy: 0.9,
    kappa: null,
  });
  expect(agreementOf(none)).toMatchObject({ n: 0, kappa: null });
});
