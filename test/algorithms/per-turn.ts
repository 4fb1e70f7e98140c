/**
 * The smallest case in which centring rewards turn by turn is biased: a policy that decides, with probability
 * 1/2, whether to go on to a second turn. Turn 1 pays `r1`, turn 2 pays `r2` to whoever reaches it, so the gradient
 * of the expected reward by the logit of going on is r2 / 4.
 */
import { computeStepwiseAdvantages } from "../../src/algorithms/stepwise.ts";
import { mean } from "../../src/algorithms/statistics.ts";
import type { GroupMember, TrajectoryGroup } from "../../src/core/trajectory.ts";
import { createRandom, deriveSeed } from "../../src/util/random.ts";

export const groupSize = 8;
export const groupCount = 40_000;

export interface Rewards {
  readonly r1: number;
  readonly r2: number;
}

/** A first step whose action was to go on or not; a second one, where it was. */
function member({ r1, r2 }: Rewards, goesOn: boolean): GroupMember {
  const trace = { responseIds: Int32Array.of(1), stopReason: "stop" };
  const steps = [{ trace, reward: r1 }, ...(goesOn ? [{ trace, reward: r2 }] : [])];
  const reward = r1 + (goesOn ? r2 : 0);
  const trajectory = { steps, signals: {} };
  return { reward, trajectory, episode: {} } as unknown as GroupMember;
}

function groupOf(rewards: Rewards, random: () => number): TrajectoryGroup {
  const members = Array.from({ length: groupSize }, () => member(rewards, random() < 0.5));
  return { id: "t:agent", taskId: "t", name: "agent", members };
}

const goesOn = ({ trajectory }: GroupMember): boolean => trajectory.steps.length === 2;

/** [group][member] the advantage of the first step. */
type FirstAdvantages = (groups: readonly TrajectoryGroup[]) => readonly (readonly number[])[];

const perStep =
  (estimator: "rloo" | "grpo"): FirstAdvantages =>
  (groups) =>
    computeStepwiseAdvantages(groups, { estimator, normByStd: false, gamma: 1 }).advantages.map(
      (group) => group.map((steps) => steps[0] ?? 0),
    );

/** As verl#7244 describes: the rewards of each turn minus their mean over those that reach it, then added up. */
const centredPerTurn: FirstAdvantages = (groups) =>
  groups.map(({ members }) => {
    const turns = [0, 1].map((turn) =>
      mean(members.flatMap(({ trajectory }) => trajectory.steps[turn]?.reward ?? [])),
    );
    return members.map(({ trajectory }) =>
      trajectory.steps.reduce((sum, { reward = 0 }, turn) => sum + reward - turns[turn]!, 0),
    );
  });

export const constructions: Readonly<Record<string, FirstAdvantages>> = {
  "per_step with rloo": perStep("rloo"),
  "per_step with grpo, without std": perStep("grpo"),
  "centred per turn, then summed": centredPerTurn,
};

export interface Estimate {
  readonly mean: number;
  /** Of the mean. */
  readonly standardError: number;
}

/** The gradient that a construction estimates, over `groupCount` groups. */
export function estimatedGradient(rewards: Rewards, construction: FirstAdvantages): Estimate {
  const random = createRandom(deriveSeed(7, "per-turn"));
  const values: number[] = [];
  for (let done = 0; done < groupCount; done += 1_000) {
    const groups = Array.from({ length: 1_000 }, () => groupOf(rewards, random));
    for (const [g, advantages] of construction(groups).entries()) {
      const { members } = groups[g]!;
      // d log p / d logit is 1/2 for going on, and -1/2 for stopping.
      values.push(mean(advantages.map((a, i) => (goesOn(members[i]!) ? a : -a) / 2)));
    }
  }
  const center = mean(values);
  const squares = values.reduce((sum, value) => sum + (value - center) ** 2, 0);
  const standardError = Math.sqrt(squares / (values.length - 1) / values.length);
  return { mean: center, standardError };
}

export const cases: readonly Rewards[] = [
  { r1: 0, r2: 1 },
  { r1: 1, r2: 1 },
  { r1: 0, r2: -1 },
];
