/**
 * Groups and their advantages to training rows. Token truth: a row holds exactly the ids that the
 * policy was given and sampled, and only sampled ids are targets. A step that cannot be trained on is
 * dropped alone; the rest of its trajectory is kept.
 */
import { AgentTrainerError } from "../../core/errors.ts";
import {
  boundaryBreaks,
  type BoundaryBreak,
  findLineages,
  type Lineage,
} from "../../core/lineages.ts";
import type {
  RowProvenance,
  RowRules,
  RowSegment,
  TrainingRow,
} from "../../core/loss/training-row.ts";
import type { GroupMember, Step, TrajectoryGroup } from "../../core/trajectory.ts";
import type { Trace } from "../../core/trace.ts";
import { RowArrays } from "./row-arrays.ts";
import { LineageCounts, RowCounts } from "./row-metrics.ts";
import {
  type LogprobTemperature,
  samplingLogprobs,
  stepDropReason,
  type StepDropReason,
  stepDropReasons,
  trainedTemperature,
} from "./trainable-step.ts";

const advantageDropReasons = [
  "advantage_not_finite",
  "advantage_missing",
  "advantage_length",
] as const;

/** Why something did not become part of a row. */
type RowDropReason = StepDropReason | (typeof advantageDropReasons)[number] | "truncated";

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

/** The same for all steps of a member, or one for each. */
type MemberSource = number | ReadonlyMap<Step, StepAdvantage>;

function advantageAt(source: MemberSource, step: Step): StepAdvantage {
  return typeof source === "number" ? source : (source.get(step) ?? null);
}

/** Rows without their advantages, by their first steps. */
export type RowLayouts = Map<Step, { readonly lineage: Lineage; readonly row: TrainingRow }>;

interface RowContext {
  readonly arrays: RowArrays;
  readonly logprobTemperature: LogprobTemperature;
  readonly layouts: RowLayouts | undefined;
}

const isSameLineage = (a: Lineage, b: Lineage): boolean =>
  a.length === b.length && a.every((step, i) => step === b[i]);

function buildRow(
  lineage: Lineage,
  source: MemberSource,
  provenance: RowProvenance,
  context: RowContext,
): TrainingRow {
  const former = context.layouts?.get(lineage[0] as Step);
  if (former !== undefined && isSameLineage(former.lineage, lineage)) {
    const advantages = new Float32Array(former.row.tokens.length);
    setAdvantages(advantages, lineage, source);
    return { ...former.row, advantages };
  }
  const row = layOut(lineage, provenance, context);
  setAdvantages(row.advantages, lineage, source);
  context.layouts?.set(lineage[0] as Step, { lineage, row });
  return row;
}

function setAdvantages(advantages: Float32Array, lineage: Lineage, source: MemberSource): void {
  for (const step of lineage) {
    const { promptIds, responseIds } = step.trace;
    const start = promptIds.length;
    const advantage = advantageAt(source, step);
    if (typeof advantage === "number")
      advantages.fill(advantage, start, start + responseIds.length);
    else if (advantage !== null) advantages.set(advantage, start);
  }
}

function layOut(
  lineage: Lineage,
  provenance: RowProvenance,
  { arrays, logprobTemperature }: RowContext,
): TrainingRow {
  const temperature = trainedTemperature(lineage[0] as Step, logprobTemperature);
  let isLacking = false;
  const last = lineage.at(-1)?.trace;
  const length = (last?.promptIds.length ?? 0) + (last?.responseIds.length ?? 0);
  const { tokens, targetMask, samplingLogprobs: reported, advantages } = arrays.take(length);
  let end = 0;
  for (const step of lineage) {
    const { promptIds, responseIds } = step.trace;
    const start = promptIds.length;
    if (start > end) tokens.set(end === 0 ? promptIds : promptIds.subarray(end), end);
    end = start + responseIds.length;
    tokens.set(responseIds, start);
    targetMask.fill(1, start, end);
    const logprobs = samplingLogprobs(step, temperature);
    isLacking ||= logprobs === null;
    reported.set(logprobs ?? step.trace.logprobs, start);
  }
  const { adapter } = (lineage[0] as Step).trace;
  return {
    ...(typeof adapter === "string" ? { adapter } : {}),
    tokens,
    ...(temperature === 1 ? {} : { temperature }),
    targetMask,
    samplingLogprobs: reported,
    ...(isLacking ? { lacksSamplingLogprobs: true } : {}),
    ...rulesOf(lineage),
    advantages,
    segments: segmentsOf(lineage),
    provenance,
  };
}

/** What changed the distribution of each completion, where anything did. */
function rulesOf(lineage: Lineage): Pick<TrainingRow, "rules"> {
  const all = lineage.flatMap(({ trace }): RowRules[] => {
    const { rules, maxTokens, stopTokenIds } = trace.sampling;
    if (rules === undefined) return [];
    const start = trace.promptIds.length;
    const end = start + trace.responseIds.length;
    return [{ start, end, rules, maxTokens, stopTokenIds }];
  });
  return all.length === 0 ? {} : { rules: all };
}

/** 0 where the gateway does not know the version. */
const versionOf = ({ weightVersion }: Trace): number => weightVersion ?? 0;

/** One for each version of the weights that sampled a part of it. */
function responseSegments({ trace }: Step, start: number, end: number): RowSegment[] {
  const { id: traceId, weightChanges = [] } = trace;
  const kind = "response";
  const segments: RowSegment[] = [];
  let from = start;
  let version = versionOf(trace);
  for (const change of weightChanges) {
    const to = Math.min(end, start + change.at);
    if (to > from) segments.push({ start: from, end: to, kind, traceId, weightVersion: version });
    from = Math.max(from, to);
    version = change.weightVersion;
  }
  if (from < end) segments.push({ start: from, end, kind, traceId, weightVersion: version });
  return segments;
}

/**
 * For a row of one call sampled by a single weight version: the common case, so no intermediate list is
 * made.
 */
function plainSegments({ trace }: Step): readonly RowSegment[] {
  const { id: traceId, promptIds, responseIds } = trace;
  const weightVersion = versionOf(trace);
  const start = promptIds.length;
  const end = start + responseIds.length;
  return [
    { start: 0, end: start, kind: "prompt", traceId, weightVersion },
    { start, end, kind: "response", traceId, weightVersion },
  ];
}

function segmentsOf(lineage: Lineage): readonly RowSegment[] {
  const first = lineage[0] as Step;
  if (lineage.length === 1 && first.trace.weightChanges === undefined) return plainSegments(first);
  let end = 0;
  const segments = lineage.map((step) => {
    const { id: traceId, promptIds, responseIds } = step.trace;
    const weightVersion = versionOf(step.trace);
    const from = end;
    const start = promptIds.length;
    end = start + responseIds.length;
    const response = responseSegments(step, start, end);
    if (start === from) return response;
    const prompt: RowSegment = { start: from, end: start, kind: "prompt", traceId, weightVersion };
    return [prompt, ...response];
  });
  return segments.length === 1 ? (segments[0] ?? []) : segments.flat();
}

const sequenceOf = ({ episodeId, trajectoryUid }: RowProvenance): string =>
  `${episodeId}\n${trajectoryUid}`;

function provenanceOf({ trajectory, episode }: GroupMember): RowProvenance {
  return {
    taskId: episode.task.id,
    episodeId: episode.id,
    rolloutIndex: episode.rolloutIndex,
    trajectoryUid: trajectory.uid,
    trajectoryName: trajectory.name,
  };
}

/** Rounded as it is stored, because a large finite double may be an infinite float. */
const isStorable = (value: number): boolean => Number.isFinite(Math.fround(value));

function advantageDropReason(step: Step, advantage: StepAdvantage): RowDropReason | null {
  if (advantage === null) return "advantage_missing";
  if (typeof advantage === "number") return isStorable(advantage) ? null : "advantage_not_finite";
  if (advantage.length !== step.trace.responseIds.length) return "advantage_length";
  return Array.from(advantage).every(isStorable) ? null : "advantage_not_finite";
}

function sourceOf({ trajectory }: GroupMember, advantage: MemberAdvantage): MemberSource {
  if (typeof advantage === "number") return advantage;
  return new Map(trajectory.steps.map((step, i) => [step, advantage[i] ?? null]));
}

export interface RowsOptions {
  /** Drop rows with a completion that was cut off by a token limit; the others of their trajectory stay. @default false */
  readonly skipTruncated?: boolean;
  /** The policy that is trained. @default "sampling" */
  readonly logprobTemperature?: LogprobTemperature;
  /**
   * Shared by calls with the same steps and temperature: what one has laid out, the others reuse, with
   * other advantages. @default nothing is reused
   */
  readonly layouts?: RowLayouts;
}

/**
 * A row for each lineage of a trajectory: turns are merged wherever each prompt extends the sequence before it,
 * id by id; otherwise a new row starts and the break is counted with its reason. All of them have the advantage
 * of their trajectory. Rows whose every advantage is 0 are kept: they count in the loss's means.
 *
 * @param advantages [group][member], as `computeAdvantages` returns them, or with an entry per step.
 */
export function buildRows(
  groups: readonly TrajectoryGroup[],
  advantages: readonly ArrayLike<MemberAdvantage>[],
  { skipTruncated = false, logprobTemperature = "sampling", layouts }: RowsOptions = {},
): RowsResult {
  const breaks = Object.fromEntries(boundaryBreaks.map((reason) => [reason, 0])) as Record<
    BoundaryBreak,
    number
  >;
  const dropped = Object.fromEntries(
    [...stepDropReasons, ...advantageDropReasons, "truncated"].map((reason) => [reason, 0]),
  ) as Record<RowDropReason, number>;

  const rows: TrainingRow[] = [];
  const counts = new RowCounts();
  const lineageCounts = new LineageCounts();
  const arrays = new RowArrays(expectedTokens(groups));
  for (const [g, group] of groups.entries()) {
    for (const [m, member] of group.members.entries()) {
      const advantage = advantages[g]?.[m];
      if (advantage === undefined) throw missingAdvantage(group, m);
      const source = sourceOf(member, advantage);
      const all = member.trajectory.steps;
      // A new list only where something is dropped: most trajectories are complete.
      let kept: Step[] | null = null;
      for (let i = 0; i < all.length; i++) {
        const step = all[i] as Step;
        const reason = stepDropReason(step) ?? advantageDropReason(step, advantageAt(source, step));
        if (reason === null) {
          kept?.push(step);
        } else {
          kept ??= all.slice(0, i);
          dropped[reason]++;
        }
      }
      const steps = kept ?? all;
      const found = findLineages(steps, (step) => trainedTemperature(step, logprobTemperature));
      if (found.lineages.length > 1)
        for (const reason of boundaryBreaks) breaks[reason] += found.breaks[reason];
      const provenance = provenanceOf(member);
      const lineages = skipTruncated ? withoutTruncated(found.lineages, all) : found.lineages;
      const trained = lineages === found.lineages ? steps.length : lineages.flat().length;
      dropped.truncated += steps.length - trained;
      counts.member(lineages.length, trained);
      lineageCounts.trajectory(provenance.episodeId, lineages);
      for (const lineage of lineages) {
        const row = buildRow(lineage, source, provenance, { arrays, logprobTemperature, layouts });
        counts.row(row.tokens.length, lineage);
        rows.push(lineages.length === 1 ? row : { ...row, sequence: sequenceOf(provenance) });
      }
    }
  }
  return {
    rows,
    metrics: { ...counts.metrics(breaks, dropped), ...lineageCounts.metrics(counts.trained) },
  };
}

/** Exact where every trajectory becomes one row. */
function expectedTokens(groups: readonly TrajectoryGroup[]): number {
  let sum = 0;
  for (const { members } of groups) {
    for (const { trajectory } of members) {
      const last = trajectory.steps.at(-1)?.trace;
      if (last !== undefined) sum += last.promptIds.length + last.responseIds.length;
    }
  }
  return sum;
}

const isTruncated = (steps: readonly Step[]): boolean =>
  steps.some(({ trace }) => trace.stopReason === "length");

/** One lineage is the whole trajectory, `all`, with what cannot be trained on; of several, each answers for itself. */
function withoutTruncated(lineages: readonly Lineage[], all: readonly Step[]): readonly Lineage[] {
  if (!isTruncated(all)) return lineages;
  return lineages.length === 1 ? [] : lineages.filter((lineage) => !isTruncated(lineage));
}

function missingAdvantage(group: TrajectoryGroup, member: number): AgentTrainerError {
  return new AgentTrainerError({
    code: "INTERNAL",
    message: `Member ${member} of group "${group.id}" has no advantage.`,
    hint: "Pass the advantages that were computed for exactly these groups.",
    fields: { groupId: group.id, member },
  });
}
