import { describe, expect, it } from "vitest";
import { makeStep } from "../../../test/make-step.ts";
import { buildRows } from "../../algorithms/rows/rows.ts";
import { loadConfig } from "../../config/load.ts";
import type { TrainConfig } from "../../config/train-config.ts";
import type { TrainingRow } from "../../core/loss/training-row.ts";
import type { GroupMember, Step, TrajectoryGroup } from "../../core/trajectory.ts";
import { criticOf, estimateWithCritic } from "./critic.ts";

const configOf = (...more: readonly string[]): TrainConfig =>
  loadConfig({
    overrides: ["model.name=m", "algorithm.estimator={type: gae, whiten: false}", ...more],
  }).config;

/** A call that continues the one before it where `prompt` begins with all of that. */
const call = (id: string, prompt: number[], response: number[], reward?: number): Step =>
  makeStep(
    {
      id,
      promptIds: Int32Array.from(prompt),
      responseIds: Int32Array.from(response),
      logprobs: new Float32Array(response.length).fill(-1),
    },
    reward === undefined ? {} : { reward },
  );

const groupOf = (name: string, reward: number, ...steps: readonly Step[]): TrajectoryGroup => ({
  id: `t:${name}`,
  taskId: "t",
  name,
  members: [
    {
      reward,
      trajectory: { uid: `u-${name}`, name, steps, reward, signals: {} },
      episode: { id: "e", task: { id: "t" }, rolloutIndex: 0 },
    } as unknown as GroupMember,
  ],
});

/** The value of a token is a tenth of its id. */
const tenths = async (rows: readonly TrainingRow[]): Promise<Float32Array[]> =>
  rows.map(({ tokens, targetMask }) =>
    Float32Array.from(tokens, (id, i) => targetMask[i]! * id * 0.1),
  );

async function estimate(
  config: TrainConfig,
  groups: readonly TrajectoryGroup[],
  penaltiesOf: (rows: readonly TrainingRow[]) => [Int32Array, Float64Array][] = () => [],
) {
  const { rows } = buildRows(
    groups,
    groups.map(({ members }) => members.map(() => 0)),
  );
  const penalties = new Map(penaltiesOf(rows));
  return estimateWithCritic(config, { rows, groups, penalties }, tenths);
}
const shown = (values: Float32Array | undefined): number[] =>
  Array.from(values ?? [], (value) => Number(value.toFixed(5)));

const turns = [call("a", [9, 9], [1, 2]), call("b", [9, 9, 1, 2, 8, 8], [3])];

describe("advantages from a critic", () => {
  it("skip what is observed between two responses", async () => {
    const gae = ["algorithm.estimator.gamma=0.9", "algorithm.estimator.lambda=0.5"];
    const { rows } = await estimate(configOf(...gae), [groupOf("agent", 1, ...turns)]);
    // Values .1, .2 | .3: deltas .08, .07, .7; discounted by .45.
    expect(rows.map(({ advantages }) => shown(advantages))).toEqual([
      [0, 0, 0.25325, 0.385, 0, 0, 0.7],
    ]);
    expect(shown(rows[0]?.returns)).toEqual([0, 0, 0.35325, 0.585, 0, 0, 1]);
    expect(shown(rows[0]?.values)).toEqual([0, 0, 0.1, 0.2, 0, 0, 0.3]);
  });

  it("go on in another row where a prompt was rewritten, also in turns of two conversations", async () => {
    const steps = [call("a", [9, 9], [1, 2]), call("b", [8, 8], [3]), call("c", [9, 9, 1, 2], [4])];
    const lambda = "algorithm.estimator.lambda=0";
    const { rows } = await estimate(configOf(lambda), [groupOf("agent", 1, ...steps)]);
    // The next value, in the order of calls, minus one's own; the reward at the last.
    expect(rows.map(({ advantages }) => shown(advantages))).toEqual([
      [0, 0, 0.1, 0.1, 0.6],
      [0, 0, 0.1],
    ]);
  });

  it("are of the trajectory's reward, or with per-step advantages of each step's", async () => {
    const paid = [call("a", [9, 9], [1, 2], 2), call("b", [9, 9, 1, 2, 8, 8], [3], 3)];
    const once = await estimate(configOf(), [groupOf("agent", 1, ...paid)]);
    expect(shown(once.rows[0]?.returns)).toEqual([0, 0, 1, 1, 0, 0, 1]);
    const perStep = configOf("stepwise_advantage.enable=true", "stepwise_advantage.mode=per_step");
    const each = await estimate(perStep, [groupOf("agent", 1, ...paid)]);
    expect(shown(each.rows[0]?.returns)).toEqual([0, 0, 5, 5, 0, 0, 3]);
  });

  it("credit the response before one that cannot be trained on", async () => {
    const steps = [...turns, call("c", [7], [])];
    const { rows } = await estimate(configOf(), [groupOf("agent", 1, ...steps)]);
    expect(shown(rows[0]?.returns)).toEqual([0, 0, 1, 1, 0, 0, 1]);
  });

  it("subtract what is given for each token from its reward", async () => {
    const { rows } = await estimate(configOf(), [groupOf("agent", 1, ...turns)], ([row]) => [
      [row!.tokens, Float64Array.of(0, 0, 0.1, 0.2, 0, 0, 0.4)],
    ]);
    expect(shown(rows[0]?.returns)).toEqual([0, 0, 0.3, 0.4, 0, 0, 0.6]);
  });

  it("are whitened by role, and only of roles that have no estimator of their own", async () => {
    const config = configOf(
      "algorithm.estimator.whiten=true",
      "algorithm.estimator_by_role={judge: reinforce}",
    );
    const groups = [
      groupOf("agent", 1, ...turns),
      groupOf("judge", 1, call("j", [9], [4])),
      groupOf("other", 5, call("o", [9], [1, 1])),
    ];
    const { rows, metrics } = await estimate(config, groups);
    // .9, .8, .7: their unbiased deviation is .1.
    expect(shown(rows[0]?.advantages)).toEqual([0, 0, 1, 0, 0, 0, -1]);
    expect(rows[1]).not.toHaveProperty("returns");
    expect(shown(rows[2]?.advantages)).toEqual([0, 0, 0]);
    expect(metrics).toMatchObject({
      "advantage/agent/max": expect.closeTo(1, 5),
      "advantage/other/zero_fraction": 1,
      "critic/values/mean": expect.closeTo(0.16, 5),
      "critic/returns/max": 5,
    });
    expect(metrics).not.toHaveProperty("advantage/judge/mean");
  });

  it("ask nothing of the backend where no row is theirs", async () => {
    const config = configOf("algorithm.estimator_by_role={agent: rloo}");
    const groups = [groupOf("agent", 1, ...turns)];
    const { rows } = buildRows(groups, [[0.5]]);
    const never = () => Promise.reject(new Error("asked"));
    const input = { rows, groups, penalties: new Map<Int32Array, Float64Array>() };
    expect(await estimateWithCritic(config, input, never)).toEqual({ rows, metrics: {} });
  });
});

describe("how the critic learns", () => {
  it("is what options say, and alone in the first steps", () => {
    const own = { valueModel: { learningRate: 0.5, epochs: 3 } };
    const config = configOf("algorithm.estimator.critic_warmup=2");
    expect(criticOf(config, own, 2)).toMatchObject({ isWarmup: true });
    expect(criticOf(config, own, 3)).toMatchObject({ isWarmup: false, clip: 0.5 });
    expect(criticOf(loadConfig({ overrides: ["model.name=m"] }).config, own, 1)).toBeNull();
  });
});
