/**
 * Advantages per step: step k of a trajectory is compared with step k of the others in its group,
 * by its return. With r_k the rewards of its n steps, the return of step k is
 *
 *   G_k = r_k + gamma G_(k+1)
 *
 * Where no step was given a reward, that of the trajectory counts as r_n; a reward of 0 is one. What options add to
 * rewards (`stepShaping`) is part of r_k of the step in whose response it arose. An estimator sees the
 * returns of all groups and steps of a role at once.
 */
import type { GroupMember, Trajectory, TrajectoryGroup } from "../core/trajectory.ts";
import { isUniform } from "./statistics.ts";
import {
  type AdvantageOptions,
  type AdvantageResult,
  comparedFacts,
  estimateByRole,
} from "./advantages.ts";

/** [step] r_k, with what is added to it. */
export function stepRewards(
  { steps }: Pick<Trajectory, "steps">,
  reward: number,
  shaping?: Float64Array,
): Float64Array {
  const isRewarded = steps.some((step) => step.reward !== undefined);
  return Float64Array.from(steps, (step, k) => {
    const own = isRewarded ? (step.reward ?? 0) : k === steps.length - 1 ? reward : 0;
    return own + (shaping?.[k] ?? 0);
  });
}

/** [step] discounted returns. */
export function stepReturns(
  trajectory: Pick<Trajectory, "steps">,
  reward: number,
  gamma: number,
  shaping?: Float64Array,
): Float64Array {
  const returns = stepRewards(trajectory, reward, shaping);
  let next = 0;
  for (let k = returns.length - 1; k >= 0; k--) {
    next = returns[k]! + gamma * next;
    returns[k] = next;
  }
  return returns;
}

export interface StepwiseResult extends Pick<AdvantageResult, "metrics"> {
  /** [group][member][step] */
  readonly advantages: readonly (readonly Float64Array[])[];
}

/** Step k of those trajectories of a group that have as many. */
interface ComparedStep {
  readonly step: number;
  /** Indices of the group's members. */
  readonly members: readonly number[];
  /** [one of `members`] */
  readonly returns: readonly number[];
}

/** The returns of a group as they are compared: by step. */
function comparedSteps({ members }: TrajectoryGroup, gamma: number): readonly ComparedStep[] {
  const returns = members.map(({ trajectory, reward, stepShaping }) =>
    stepReturns(trajectory, reward, gamma, stepShaping),
  );
  const maxSteps = Math.max(0, ...returns.map((values) => values.length));
  return Array.from({ length: maxSteps }, (_, step) => {
    const has = returns.flatMap((values, member) => (step < values.length ? [member] : []));
    return { step, members: has, returns: has.map((member) => returns[member]?.[step] ?? 0) };
  });
}

/** Whether the returns of any step differ between the trajectories that have it. */
export const stepsDiffer = (group: TrajectoryGroup, gamma: number): boolean =>
  comparedSteps(group, gamma).some(({ returns }) => !isUniform(returns));

/** Which trajectory and step a pseudo-group's member refers to. */
interface Place {
  readonly member: number;
  readonly step: number;
}

/** @throws ConfigError as `computeAdvantages` does. */
export function computeStepwiseAdvantages(
  groups: readonly TrajectoryGroup[],
  options: AdvantageOptions & { readonly gamma: number },
): StepwiseResult {
  const places: Place[][] = [];
  const owners: number[] = [];
  const compared = groups.flatMap((group, g) =>
    comparedSteps(group, options.gamma).map(({ step, members, returns }) => {
      places.push(members.map((member) => ({ member, step })));
      owners.push(g);
      return {
        name: group.name,
        rewards: returns,
        lengths: members.map((member) =>
          Math.max(1, group.members[member]?.trajectory.steps[step]?.trace.responseIds.length ?? 0),
        ),
        ...comparedFacts(members.map((member) => group.members[member] as GroupMember)),
      };
    }),
  );
  const { advantages: values, metrics } = estimateByRole(compared, options);
  const advantages = groups.map((group) =>
    group.members.map(({ trajectory }) => new Float64Array(trajectory.steps.length)),
  );
  for (const [i, list] of places.entries()) {
    for (const [j, { member, step }] of list.entries()) {
      const target = advantages[owners[i] as number]?.[member];
      if (target !== undefined) target[step] = values[i]?.[j] ?? 0;
    }
  }
  return { advantages, metrics };
}
