/**
 * Groups and their advantages to training rows. Token truth: a row holds exactly the ids that the
 * policy was given and drew, and only drawn ids are targets. A step that cannot be trained on costs
 * itself and nothing else. Knows nothing of how advantages came about or of the loss.
 */
import { AgentTrainerError } from "../core/errors.ts";
import type { RowProvenance, RowSegment, TrainingRow } from "../core/training-row.ts";
import type { GroupMember, Step, TrajectoryGroup } from "../core/trajectory.ts";
import { boundaryBreaks, mergeSteps } from "./row-merge.ts";
import type { BoundaryBreak, StepChain } from "./row-merge.ts";
import { rowMetrics } from "./row-metrics.ts";
import { stepDropReason, stepDropReasons } from "./trainable-step.ts";
import type { StepDropReason } from "./trainable-step.ts";

const advantageDropReasons = [
  "advantage_not_finite",
  "advantage_missing",
  "advantage_length",
] as const;

/** Why something did not become part of a row. */
export type RowDropReason = StepDropReason | (typeof advantageDropReasons)[number] | "truncated";

/** One number for all sampled tokens of a step, or one for each; null where there is none. */
export type StepAdvantage = number | ArrayLike<number> | null;

/** One number for all steps of a trajectory, or an entry for each of them. */
export type MemberAdvantage = number | ArrayLike<StepAdvantage>;

export interface RowsResult {
  /** In the order of groups, members and first steps. */
  readonly rows: readonly TrainingRow[];
  /** `rows/...`; among them every `rows/breaks/{reason}` and `rows/dropped/{reason}`, also when 0. */
  readonly metrics: Readonly<Record<string, number>>;
}

/** What one member became. */
export interface MemberRows {
  readonly rows: readonly TrainingRow[];
  /** Steps that are in the rows. */
  readonly steps: number;
}

type AdvantageOf = (step: Step) => StepAdvantage;

function buildRow(
  chain: StepChain,
  advantageOf: AdvantageOf,
  provenance: RowProvenance,
): TrainingRow {
  const last = chain.at(-1);
  const length = (last?.promptIds.length ?? 0) + (last?.responseIds.length ?? 0);
  const tokens = new Int32Array(length);
  const targetMask = new Uint8Array(length);
  const samplingLogprobs = new Float32Array(length);
  const advantages = new Float32Array(length);
  const segments: RowSegment[] = [];
  let end = 0;
  for (const step of chain) {
    const { promptIds, responseIds, logprobs, traceId, weightVersion } = step;
    const start = promptIds.length;
    if (start > end) {
      tokens.set(promptIds.subarray(end), end);
      segments.push({ start: end, end: start, kind: "prompt", traceId, weightVersion });
    }
    end = start + responseIds.length;
    tokens.set(responseIds, start);
    targetMask.fill(1, start, end);
    samplingLogprobs.set(logprobs, start);
    const advantage = advantageOf(step);
    if (typeof advantage === "number") advantages.fill(advantage, start, end);
    else if (advantage !== null) advantages.set(advantage, start);
    segments.push({ start, end, kind: "response", traceId, weightVersion });
  }
  return { tokens, targetMask, samplingLogprobs, advantages, segments, provenance };
}

function provenanceOf({ trajectory, episode }: GroupMember): RowProvenance {
  return {
    taskId: episode.task.id,
    episodeId: episode.id,
    rolloutIndex: episode.rolloutIndex,
    trajectoryUid: trajectory.uid,
    trajectoryName: trajectory.name,
  };
}

function advantageDropReason(step: Step, advantage: StepAdvantage): RowDropReason | null {
  if (advantage === null) return "advantage_missing";
  // Rounded as it is stored, because a large finite double may be an infinite float.
  const isFinite = (value: number): boolean => Number.isFinite(Math.fround(value));
  if (typeof advantage === "number") return isFinite(advantage) ? null : "advantage_not_finite";
  if (advantage.length !== step.responseIds.length) return "advantage_length";
  return Array.from(advantage).every(isFinite) ? null : "advantage_not_finite";
}

/** Finds the advantage of each step of a member. */
function advantagesOf({ trajectory }: GroupMember, advantage: MemberAdvantage): AdvantageOf {
  if (typeof advantage === "number") return () => advantage;
  const byStep = new Map(trajectory.steps.map((step, i) => [step, advantage[i] ?? null]));
  return (step) => byStep.get(step) ?? null;
}

export interface RowsOptions {
  /** Leave out trajectories with an answer that was cut by a limit of tokens. @default false */
  readonly skipTruncated?: boolean;
}

/**
 * Turns of a trajectory are merged into one row wherever each prompt extends the sequence before it,
 * id by id; otherwise a new row starts and the break is counted with its reason. Rows whose every
 * advantage is 0 are kept: they count in the means of the loss.
 *
 * @param advantages [group][member], as `computeAdvantages` returns them, or with an entry per step.
 */
export function buildRows(
  groups: readonly TrajectoryGroup[],
  advantages: readonly ArrayLike<MemberAdvantage>[],
  { skipTruncated = false }: RowsOptions = {},
): RowsResult {
  const breaks = Object.fromEntries(boundaryBreaks.map((reason) => [reason, 0])) as Record<
    BoundaryBreak,
    number
  >;
  const dropped = Object.fromEntries(
    [...stepDropReasons, ...advantageDropReasons, "truncated"].map((reason) => [reason, 0]),
  ) as Record<RowDropReason, number>;

  const members = groups.flatMap((group, g) =>
    group.members.map((member, m): MemberRows => {
      const advantage = advantages[g]?.[m];
      if (advantage === undefined) throw missingAdvantage(group, m);
      const advantageOf = advantagesOf(member, advantage);
      const isSkipped =
        skipTruncated && member.trajectory.steps.some(({ stopReason }) => stopReason === "length");
      const steps = member.trajectory.steps.filter((step) => {
        const reason = isSkipped
          ? "truncated"
          : (stepDropReason(step) ?? advantageDropReason(step, advantageOf(step)));
        if (reason !== null) dropped[reason]++;
        return reason === null;
      });
      const merged = mergeSteps(steps);
      for (const reason of boundaryBreaks) breaks[reason] += merged.breaks[reason];
      const provenance = provenanceOf(member);
      return {
        rows: merged.chains.map((chain) => buildRow(chain, advantageOf, provenance)),
        steps: steps.length,
      };
    }),
  );
  return {
    rows: members.flatMap((member) => member.rows),
    metrics: rowMetrics(members, breaks, dropped),
  };
}

function missingAdvantage(group: TrajectoryGroup, member: number): AgentTrainerError {
  return new AgentTrainerError({
    code: "INTERNAL",
    message: `Member ${member} of group "${group.id}" has no advantage.`,
    hint: "Pass the advantages that were computed for exactly these groups.",
    fields: { groupId: group.id, member },
  });
}
