import { expect, it } from "vitest";
import { makeStep } from "../../test/make-step.ts";
import { defaultSampling } from "../core/policy.ts";
import type { Episode, Step } from "../core/trajectory.ts";
import { packRollouts, unpackRollouts } from "./stored-rollouts.ts";

it("keeps every log-probability of a waiting rollout, bit by bit, and says of which kind it is", () => {
  const step: Step = makeStep({
    promptIds: Int32Array.of(1, 2),
    responseIds: Int32Array.of(3, 4),
    logprobs: Float32Array.of(-0.1, -1e-9),
    logprobKind: "processed",
    // A part of a larger buffer, as the gateway cuts them.
    temperedLogprobs: Float32Array.of(9, -0.2, -12.5, 9).subarray(1, 3),
    sampling: { ...defaultSampling, temperature: 0.7, seed: 0, stopTokenIds: [] },
  });
  const episode = {
    id: "1/a/0",
    trajectories: [{ uid: "u", name: "agent", steps: [step], reward: 1 }],
  } as unknown as Episode;
  const waiting = [{ key: "a", since: 1, episodes: [episode] }];
  expect(unpackRollouts(packRollouts(waiting))).toEqual(waiting);
});

it("reads what earlier versions wrote, without what they kept to train on it again", () => {
  const line = (list: string, key: string): string =>
    `${JSON.stringify({ list, key, since: 1, episodes: [] })}\n`;
  expect(unpackRollouts(line("waiting", "1/a") + line("replay", "1/b"))).toEqual([
    { key: "1/a", since: 1, episodes: [] },
  ]);
});
