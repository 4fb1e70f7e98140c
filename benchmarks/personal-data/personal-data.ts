/** `personal-data`: how much of a generated corpus the rules for personal data find, and what they find in error. */
import type { Benchmark } from "../harness/benchmark.ts";
import { atLeast, result } from "../harness/result.ts";
import { measure, personalKinds, precisionOf, recallOf } from "./corpus.ts";

const goal = atLeast(0.99);

export const personalData: Benchmark = {
  name: "personal-data",
  summary: "recall and precision of the rules for personal data, on a generated corpus",
  run({ quick }) {
    const { scores, others } = measure(1, quick ? 200 : 4000);
    return Promise.resolve([
      ...personalKinds.flatMap((kind) => [
        result(`${kind}: texts`, "", scores[kind].positives),
        result(`${kind}: recall`, "", recallOf(scores[kind]), goal),
        result(`${kind}: false positives`, "", scores[kind].falsePositives),
        result(`${kind}: precision`, "", precisionOf(scores[kind]), goal),
      ]),
      ...Object.entries(others).map(([other, { texts, changed }]) =>
        result(`${other}: changed of ${texts}`, "", changed),
      ),
    ]);
  },
};
