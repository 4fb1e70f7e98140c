import { describe, expect, it } from "vitest";
import type { TrainingBackend } from "../../../src/core/backend.ts";
import { capabilityMatrix } from "../../../src/core/capabilities.ts";
import type { Step } from "../../../src/core/trajectory.ts";
import type { TrainingRow } from "../../../src/core/loss/training-row.ts";
import { loadConfig } from "../../../src/config/load.ts";
import type { Renderer } from "../../../src/core/policy.ts";
import { byteRenderer, conversation, toolSays } from "../../conversation.ts";
import { episode, type EpisodeShape, rowsOf, withoutStd } from "./episodes.ts";

type Forward = NonNullable<TrainingBackend["forward"]>;

/** Rows of these episodes, all of one set, under these options. */
async function rowsWith(
  overrides: readonly string[],
  shapes: readonly EpisodeShape[],
  forward?: Forward,
  renderer?: Renderer,
): Promise<{ rows: readonly TrainingRow[]; metrics: Readonly<Record<string, number>> }> {
  const { config } = loadConfig({
    overrides: ["model.name=m", ...withoutStd(overrides), ...overrides],
  });
  const backend = {
    forward,
    capabilities: capabilityMatrix.local,
  } as unknown as TrainingBackend;
  return rowsOf(config, backend, shapes.map(episode), renderer);
}

/** The advantages of a row's sampled tokens. */
const sampled = ({ advantages, targetMask }: TrainingRow): number[] =>
  [...advantages].filter((_, i) => targetMask[i] === 1).map((value) => Number(value.toFixed(6)));

const won: EpisodeShape = { reward: 1 };
const lost: EpisodeShape = { reward: 0 };

/** As rLLM's compact filtering excludes. */
const excluding =
  "algorithm.excluded_reasons=[max_prompt_length_exceeded, max_response_length_exceeded, max_turns_exceeded, timeout, error]";

describe("algorithm.excluded_reasons", () => {
  const shapes: EpisodeShape[] = [
    won,
    lost,
    { reward: 0, reason: "max_turns_exceeded" },
    { reward: 0, reason: "timeout" },
    { reward: 0, reason: "env_done" },
  ];
  it("is off by default: only rollouts that failed without a score are left out", async () => {
    const { rows, metrics } = await rowsWith([], [...shapes, { reason: "error", reward: null }]);
    expect(rows).toHaveLength(5);
    expect(metrics["groups/dropped/excluded_episodes"]).toBe(1);
  });
  it("error leaves out what the agent made fail, which trains with its reward otherwise", async () => {
    const own: EpisodeShape[] = [won, lost, { reward: 0, reason: "error" }];
    const { rows } = await rowsWith([], own);
    expect(rows.map(sampled)).toEqual([
      [0.666667, 0.666667],
      [-0.333333, -0.333333],
      [-0.333333, -0.333333],
    ]);
    const masked = await rowsWith([excluding], own);
    expect(masked.rows.map(sampled)).toEqual([
      [0.5, 0.5],
      [-0.5, -0.5],
    ]);
    const others = ["algorithm.excluded_reasons=[timeout, max_turns_exceeded]"];
    expect((await rowsWith(others, own)).rows).toHaveLength(3);
  });
  it("leaves rollouts out whole: they are no part of a baseline either", async () => {
    const { rows, metrics } = await rowsWith([excluding], shapes);
    expect(rows.map(sampled)).toEqual([
      [0.666667, 0.666667],
      [-0.333333, -0.333333],
      [-0.333333, -0.333333],
    ]);
    expect(metrics["groups/dropped/excluded_episodes"]).toBe(2);
  });
  it.each([
    "max_prompt_length_exceeded",
    "max_response_length_exceeded",
    "env_done",
    "max_turns_exceeded",
    "timeout",
    "unknown",
  ] as const)("%s is left out by its name alone", async (reason) => {
    const list = [won, lost, { reward: 0, reason }];
    expect((await rowsWith(["algorithm.excluded_reasons=[error]"], list)).rows).toHaveLength(3);
    const left = await rowsWith([`algorithm.excluded_reasons=[${reason}]`], list);
    expect(left.rows).toHaveLength(2);
  });
});

describe("algorithm.overlong_buffer", () => {
  const long: EpisodeShape = { reward: 1, steps: [{ response: [1, 2, 3, 4, 5, 6, 7, 8] }] };
  it("takes something off long answers before they are compared", async () => {
    const { rows, metrics } = await rowsWith(
      ["algorithm.overlong_buffer={enable: true, len: 4, penalty_factor: 0.5, max_length: 10}"],
      [{ reward: 1 }, long],
    );
    // 8 tokens are 2 of 4 into the buffer: 0.5 * 0.5 = 0.25 less, and half of it from the mean.
    expect(sampled(rows[0]!)).toEqual([0.125, 0.125]);
    expect(sampled(rows[1]!)[0]).toBe(-0.125);
    expect(metrics).toMatchObject({
      "shaping/overlong_penalty": -0.125,
      "shaping/overlong_fraction": 0.5,
      "reward/agent/mean": 0.875,
    });
  });
  it("measures against max_tokens by default, and is off unless it is on", async () => {
    const options = ["algorithm.overlong_buffer.len=4", "rollout.train.max_tokens=8"];
    const on = await rowsWith([...options, "algorithm.overlong_buffer.enable=true"], [lost, long]);
    expect(on.metrics["shaping/overlong_penalty"]).toBe(-0.5);
    const off = await rowsWith(options, [lost, long]);
    expect(off.metrics["shaping/overlong_penalty"]).toBeUndefined();
  });
});

describe("algorithm.filter_uniform_groups", () => {
  // Rewards 1 and 0, and 1 and 1: centred 0.5, -0.5, 0, 0 with a standard deviation of sqrt(1 / 8).
  const shapes: EpisodeShape[] = [
    { task: "a", reward: 1 },
    { task: "a", reward: 0 },
    { task: "b", reward: 1 },
    { task: "b", reward: 1 },
  ];
  it.each([
    ["reinforce_plus_plus_baseline", Math.SQRT2],
    // Four rollouts, three of which have a reward.
    ["gpg", (4 / 3) * 0.5],
    ["grpo", 1 / (1 + 2e-6)],
  ])("leaves groups out of the rows, not out of the numbers of %s", async (estimator, value) => {
    const run = (...more: readonly string[]) =>
      rowsWith([`algorithm.estimator=${estimator}`, ...more], shapes);
    const all = await run("algorithm.filter_uniform_groups=false");
    const filtered = await run();
    expect(all.rows).toHaveLength(4);
    expect(filtered.rows.map(sampled)).toEqual(all.rows.slice(0, 2).map(sampled));
    expect(sampled(filtered.rows[0]!)[0]).toBeCloseTo(value, 5);
    expect(filtered.metrics).toMatchObject({
      "groups/dropped/uniform_groups": 1,
      "groups/dropped/uniform_trajectories": 2,
      "reward/agent/mean": 0.75,
      "advantage/agent/zero_fraction": 0.5,
      "groups/agent/informative_fraction": 0.5,
      "groups/agent/too_easy_fraction": 0.5,
      "rows/count": 2,
    });
  });
  it("keeps the numbers that verl computes for gpg, although one group teaches nothing", async () => {
    const list = Object.entries({ a: [1, 0, 0.5], b: [2, 1], c: [0] }).flatMap(([task, rewards]) =>
      rewards.map((reward): EpisodeShape => ({ task, reward })),
    );
    const { rows } = await rowsWith(["algorithm.estimator=gpg"], list);
    expect(rows.map((row) => sampled(row)[0])).toEqual([0.75, -0.75, 0, 0.75, -0.75]);
  });
});

describe("algorithm.mask_truncated_samples", () => {
  it("trains no row that was cut, but compares others with its trajectory", async () => {
    const masks = ["algorithm.mask_truncated_samples=true"];
    const whole: EpisodeShape = { reward: 0, steps: [{ stopReason: "length" }] };
    const { rows, metrics } = await rowsWith(masks, [won, whole]);
    expect(rows.map(sampled)).toEqual([[0.5, 0.5]]);
    expect(metrics["rows/dropped/truncated"]).toBe(1);
    // Two rows, since its second prompt does not continue the first.
    const half: EpisodeShape = { reward: 0, steps: [{}, { stopReason: "length" }] };
    expect((await rowsWith(masks, [won, half])).rows.map(sampled)).toEqual([
      [0.5, 0.5],
      [-0.5, -0.5],
    ]);
    expect((await rowsWith([], [won, half])).rows).toHaveLength(3);
  });
});

describe("algorithm.use_precomputed_advantage", () => {
  const given: EpisodeShape[] = [
    { task: "given", reward: 1, steps: [{ advantage: [0.25, -2] }, { prompt: [9], advantage: 3 }] },
    { task: "given", reward: 1, steps: [{ advantage: 1 }] },
  ];
  const option = "algorithm.use_precomputed_advantage=true";

  it("trains each token with what the flow said, and estimates other groups", async () => {
    const { rows, metrics } = await rowsWith([option], [...given, won, lost]);
    expect(rows.map(sampled)).toEqual([
      [0.25, -2],
      [3, 3],
      [1, 1],
      [0.5, 0.5],
      [-0.5, -0.5],
    ]);
    expect(metrics["advantage/precomputed_groups"]).toBe(1);
  });
  it("takes whole numbers, and 0, as what they are", async () => {
    const { rows } = await rowsWith([option], [{ steps: [{ advantage: 0 }] }]);
    expect(rows.map(sampled)).toEqual([[0, 0]]);
  });
  it("drops steps with too few numbers, none, or none that is finite, and counts them", async () => {
    const { rows, metrics } = await rowsWith(
      [option],
      [
        { steps: [{ advantage: [1] }, { prompt: [9] }, { prompt: [5], advantage: NaN }] },
        { steps: [{ advantage: 2 }] },
      ],
    );
    expect(rows.map(sampled)).toEqual([[2, 2]]);
    expect(metrics).toMatchObject({
      "rows/dropped/advantage_length": 1,
      "rows/dropped/advantage_missing": 1,
      "rows/dropped/advantage_not_finite": 1,
    });
  });
  it("is counted where it is not used", async () => {
    const { rows, metrics } = await rowsWith([], [...given, won, lost]);
    expect(rows.map(sampled)).toEqual([
      [0.5, 0.5],
      [-0.5, -0.5],
    ]);
    expect(metrics["advantage/precomputed_ignored"]).toBe(1);
  });
});

describe("stepwise_advantage", () => {
  const two = (first: number, second: number): EpisodeShape => ({
    reward: first + second,
    steps: [{ reward: first }, { reward: second }],
  });
  it("per_step trains each step by what came of it", async () => {
    const { rows } = await rowsWith(
      ["stepwise_advantage={enable: true, mode: per_step, gamma: 0}"],
      [two(1, 0), two(0, 1)],
    );
    expect(rows.map(sampled)).toEqual([
      [0.5, 0.5],
      [-0.5, -0.5],
      [-0.5, -0.5],
      [0.5, 0.5],
    ]);
  });
  it("per_step takes the overlong penalty off the step whose response is too long", async () => {
    const cut = (...lengths: readonly number[]): EpisodeShape => ({
      reward: 1,
      steps: lengths.map((length, i) => ({
        response: Array.from({ length }, () => 7),
        reward: i === 0 ? 1 : 0,
      })),
    });
    const { rows, metrics } = await rowsWith(
      [
        "stepwise_advantage={enable: true, mode: per_step, gamma: 0}",
        "algorithm.overlong_buffer={enable: true, len: 4, penalty_factor: 1, max_length: 8}",
      ],
      [cut(2, 8), cut(2, 2)],
    );
    // First steps are alike; of the second ones the long one has -1 and the short one 0.
    expect(rows.map((row) => sampled(row)[0])).toEqual([0, -0.5, 0, 0.5]);
    expect(metrics["shaping/overlong_penalty"]).toBe(-0.25);
  });
  it("per_step takes each step's own KL off its reward, merged into one row or not", async () => {
    const forward: Forward = async (list, which) =>
      list.map(({ tokens }) =>
        Float32Array.from(tokens, (id) => (which === "current" && id === 9 ? -1 : -2)),
      );
    const steps = (second: readonly number[]): EpisodeShape => ({
      reward: 1,
      steps: [
        { prompt: [1], response: [7, 8], reward: 1 },
        { prompt: [1, 7, 8, 2], response: second, reward: 0 },
      ],
    });
    const options = [
      "stepwise_advantage={enable: true, mode: per_step, gamma: 0}",
      "algorithm.use_kl_in_reward=true",
      "algorithm.kl_ctrl.kl_coef=0.1",
    ];
    const { rows } = await rowsWith(options, [steps([9, 9]), steps([5, 5])], forward);
    // Two tokens at l - q = 1: 0.2 less than the other second step; first steps are alike.
    expect(rows.map(sampled)).toEqual([
      [0, 0, -0.1, -0.1],
      [0, 0, 0.1, 0.1],
    ]);
  });
  it("broadcast gives all steps the same, divided by their number where asked for", async () => {
    const shapes = [two(2, 0), { reward: 0 }];
    const plain = await rowsWith([], shapes);
    expect(plain.rows.map(sampled)).toEqual([
      [1, 1],
      [1, 1],
      [-1, -1],
    ]);
    const normalized = await rowsWith(
      ["stepwise_advantage={enable: true, normalize_by_steps: true}"],
      shapes,
    );
    expect(normalized.rows.map(sampled)).toEqual([
      [0.5, 0.5],
      [0.5, 0.5],
      [-1, -1],
    ]);
  });
});

describe("algorithm.use_kl_in_reward", () => {
  it("takes the distance to the reference off each reward, once per trajectory", async () => {
    const asked: string[] = [];
    const forward: Forward = async (rows, which) => {
      asked.push(which);
      // The first token of a prompt says whose row it is.
      return rows.map(({ targetMask, tokens }) =>
        Float32Array.from(targetMask, (trained) =>
          trained === 0 ? 0 : which === "current" && tokens[0] === 1 ? -1 : -1.5,
        ),
      );
    };
    const far: EpisodeShape = { reward: 1, steps: [{ prompt: [1] }, { prompt: [1, 3] }] };
    const near: EpisodeShape = { reward: 1, steps: [{ prompt: [2] }] };
    const { rows, metrics } = await rowsWith(
      ["algorithm.use_kl_in_reward=true", "algorithm.kl_ctrl.kl_coef=0.1"],
      [far, near],
      forward,
    );
    expect(asked).toEqual(["current", "reference"]);
    // Four tokens at 0.5 each: 0.2 less, of which half is the mean's.
    expect(rows.map(sampled)).toEqual([
      [-0.1, -0.1],
      [-0.1, -0.1],
      [0.1, 0.1],
    ]);
    expect(metrics["shaping/reward_kl_penalty"]).toBeCloseTo((0.5 + 0.5 + 0) / 3, 6);
    expect(metrics["shaping/reward_kl_penalty_coeff"]).toBe(0.1);
  });
});

describe("algorithm.estimator=gdpo", () => {
  const shapes: EpisodeShape[] = [
    { task: "a", reward: 1, signals: { right: 1, short: 0 } },
    { task: "a", reward: 1, signals: { right: 0, short: 1 } },
    { task: "b", reward: 1, signals: { right: 1, short: 1 } },
    { task: "b", reward: 1, signals: { right: 1, short: 1 } },
  ];
  const gdpo = "algorithm.estimator={type: gdpo, weights: {right: 2, short: 1}}";

  it("keeps groups of equal rewards whose signals differ, and drops those in which none does", async () => {
    const { rows, metrics } = await rowsWith([gdpo], shapes);
    expect(rows.map((row) => Math.sign(sampled(row)[0]!))).toEqual([1, -1]);
    expect(metrics).toMatchObject({
      "groups/dropped/uniform_groups": 1,
      "signals/agent/right/mean": 0.75,
      "signals/agent/right/informative_fraction": 0.5,
      "signals/agent/short/missing": 0,
    });
    const grpo = await rowsWith(["algorithm.estimator=grpo"], shapes);
    expect(grpo.rows).toHaveLength(0);
  });

  it("may be of a role, with names whose case stays", async () => {
    const byRole = "algorithm.estimator_by_role={judge: {type: gdpo, weights: {isRight: 1}}}";
    const judged: EpisodeShape[] = [1, 0].map((isRight) => ({
      role: "judge",
      signals: { isRight },
    }));
    const { rows, metrics } = await rowsWith([byRole, "algorithm.estimator=grpo"], judged);
    expect(rows.map((row) => Math.sign(sampled(row)[0]!))).toEqual([1, -1]);
    expect(metrics["signals/judge/isRight/mean"]).toBe(0.5);
  });

  it.each([
    ["stepwise_advantage.enable=true", "normalizes the signals of whole trajectories"],
    ["algorithm.overlong_buffer.enable=true", "Add reward to the weights."],
    ["algorithm.use_kl_in_reward=true", "Add reward to the weights."],
  ])("refuses %s, which it would ignore", (option, message) => {
    const load = (...more: string[]) => loadConfig({ overrides: ["model.name=m", ...more] });
    const more = ["stepwise_advantage.mode=per_step"];
    expect(() => load(gdpo, option, ...(option.startsWith("step") ? more : []))).toThrow(message);
  });

  it("takes the reward with what options add to it, where it is named", async () => {
    const options = [
      "algorithm.estimator={type: gdpo, weights: [reward=1]}",
      "algorithm.overlong_buffer={enable: true, len: 4, max_length: 10}",
    ];
    const long: EpisodeShape = { steps: [{ response: [1, 2, 3, 4, 5, 6, 7, 8] }] };
    const { rows } = await rowsWith(options, [{}, long]);
    expect(rows.map((row) => Math.sign(sampled(row)[0]!))).toEqual([1, -1]);
  });

  it.each(["{right: fast}", "[right]", "{right: 1, '': 2}"])(
    "refuses the weights %s",
    (weights) => {
      const override = `algorithm.estimator={type: gdpo, weights: ${weights}}`;
      expect(() => loadConfig({ overrides: ["model.name=m", override] })).toThrow(
        "algorithm.estimator.weights must be a map of signals to numbers",
      );
    },
  );
});

describe("algorithm.observation_loss", () => {
  const told = (content: string): readonly Step[] => conversation([[toolSays(content)]]);
  const shapes: EpisodeShape[] = [
    { task: "a", reward: 1, made: told("sun") },
    { task: "a", reward: 0, made: told("rain") },
    { task: "b", reward: 1, made: told("snow") },
    { task: "b", reward: 1, made: told("hail") },
  ];
  const option = "algorithm.observation_loss={tool: 0.05}";
  const run = (...overrides: readonly string[]) =>
    rowsWith(overrides, shapes, undefined, byteRenderer);

  it("is off by default, and adds nothing to rows", async () => {
    const { rows, metrics } = await run();
    expect(rows.map(({ observationWeights }) => observationWeights)).toEqual([
      undefined,
      undefined,
    ]);
    expect(metrics).not.toHaveProperty("rows/observed_tokens");
  });

  it("learns from what tools said, and of groups of equal rewards from nothing else", async () => {
    const { rows, metrics } = await run(option);
    const plain = await run();
    const sum = (values: ArrayLike<number> = []) => Array.from(values).filter((v) => v > 0).length;
    expect(rows.map(({ observationWeights }) => sum(observationWeights))).toEqual([3, 4, 4, 4]);
    expect(rows.map(({ targetMask }) => sum(targetMask))).toEqual([6, 6, 0, 0]);
    expect(rows.slice(0, 2).map(sampled)).toEqual(plain.rows.map(sampled));
    expect(metrics).toMatchObject({
      "rows/observed_tokens": 15,
      "rows/unmatched_observations": 0,
      "groups/dropped/uniform_groups": 1,
    });
  });

  it("needs a renderer", async () => {
    await expect(rowsWith([option], shapes)).rejects.toThrow("the backend has no renderer");
  });

  it.each(["{assistant: 1}", "{tool: -1}", "{tool: much}"])("refuses %s", (value) => {
    const overrides = ["model.name=m", `algorithm.observation_loss=${value}`];
    expect(() => loadConfig({ overrides })).toThrow(
      "algorithm.observation_loss must be a map of message roles to numbers from 0 on",
    );
  });
});
