/** Rejection sampling, the filter of the update and its rows agree about which groups teach something. */
import { describe, expect, it } from "vitest";
import { loadConfig } from "../../src/config/load.ts";
import type { TrainConfig } from "../../src/config/train-config.ts";
import type { TrainingBackend } from "../../src/core/backend.ts";
import { capabilityMatrix } from "../../src/core/capabilities.ts";
import { hasSignal } from "../../src/trainer/rollouts/rejection.ts";
import { groupsOf } from "../../src/trainer/update/episode-rows.ts";
import { createRandom } from "../../src/util/random.ts";
import { episode, rowsOf, type EpisodeShape } from "./options/episodes.ts";

const localBackend = { capabilities: capabilityMatrix.local } as TrainingBackend;

const configOf = (type: string): TrainConfig =>
  loadConfig({ overrides: ["model.name=m", `algorithm.estimator=${type}`] }).config;

/** Groups with ties, failures and missing signals. */
function randomGroup(seed: number): readonly EpisodeShape[] {
  const random = createRandom(seed);
  const pick = (): number => Math.floor(random() * 3) / 2;
  return Array.from({ length: 2 + Math.floor(random() * 3) }, () => {
    const isSignaled = random() < 0.8;
    return {
      task: "a",
      reward: pick(),
      signals: isSignaled ? { right: pick(), ...(random() < 0.6 ? { short: pick() } : {}) } : {},
    };
  });
}

describe.each(["grpo", "rloo", "opo", "gpg", "maxrl", "grpo_passk", "gdpo"])("%s", (type) => {
  it("trains on exactly those groups of which rejection sampling says that they teach", async () => {
    const config = configOf(type);
    let taught = 0;
    for (let seed = 0; seed < 250; seed++) {
      const episodes = randomGroup(seed).map((shape, i) => episode(shape, i));
      const says = hasSignal(config, groupsOf(config, [{ key: "a", since: 1, episodes }]));
      const { rows } = await rowsOf(config, localBackend, episodes);
      const isTaught = rows.some(({ advantages }) => advantages.some((value) => value !== 0));
      const found = { seed, says, hasRows: rows.length > 0 };
      expect(found).toEqual({ seed, says: isTaught, hasRows: isTaught });
      taught += Number(isTaught);
    }
    expect(taught).toBeGreaterThan(50);
    expect(taught).toBeLessThan(250);
  });
});

it("punishes a rollout whose agent threw, next to others with signals", async () => {
  const shapes: EpisodeShape[] = [
    { task: "a", reward: 1, signals: { right: 1 } },
    { task: "a", reward: 1, signals: { right: 1 } },
    { task: "a", reward: 0, signals: {} },
  ];
  const { rows } = await rowsOf(
    configOf("gdpo"),
    localBackend,
    shapes.map((shape, i) => episode(shape, i)),
  );
  const signs = rows.map(({ advantages }) => Math.sign(advantages.find((value) => value !== 0)!));
  expect(signs).toEqual([1, 1, -1]);
});
