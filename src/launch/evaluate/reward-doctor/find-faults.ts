/** What the scores of all probes say about a reward. Pure. */
import { median } from "../../../util/median.ts";
import { badProbes, goodProbes } from "./probes.ts";
import { finding, type RewardFault, type RewardFinding } from "./report.ts";
import type { Scored } from "./score-probe.ts";

const num = (value: number): string => String(Number(value.toPrecision(4)));
const rewardOf = ({ reward }: Scored): number => reward ?? 0;
const medianOf = (scores: readonly Scored[]): number => median(scores.map(rewardOf));

const byProbe = (scores: readonly Scored[], probe: string): readonly Scored[] =>
  scores.filter((one) => one.probe === probe);

/** The form of the reference answer that gets the most; empty without a reference. */
function bestForm(scores: readonly Scored[]): readonly Scored[] {
  const forms = goodProbes
    .map(({ name }) => byProbe(scores, name))
    .filter((form) => form.length > 0);
  return forms.toSorted((a, b) => medianOf(b) - medianOf(a))[0] ?? [];
}

/** An output is paid for only where this fraction of the tasks pays for it. */
const enough = 0.3;

/** Most of the way from what a wrong answer gets to what a right one does is paid for. */
const passing = 0.6;

function paid(scores: readonly Scored[], right: number, wrong: number): RewardFinding[] {
  const least = wrong + passing * (right - wrong);
  const found = new Map<RewardFault, RewardFinding>();
  for (const { name, fault } of badProbes) {
    const cases = byProbe(scores, name);
    const bad = cases.filter((one) => one.isCorrect === true || rewardOf(one) >= least);
    const [shown] = bad.toSorted((a, b) => rewardOf(b) - rewardOf(a));
    if (shown === undefined || bad.length < enough * cases.length || found.has(fault)) continue;
    const evidence = `"${name}" gets ${num(rewardOf(shown))}${shown.isCorrect === true ? " and counts as correct" : ""} in ${bad.length} of ${cases.length} tasks; a right answer gets ${num(right)}`;
    found.set(fault, finding(fault, evidence, shown));
  }
  return [...found.values()];
}

function failures(scores: readonly Scored[]): RewardFinding[] {
  const failed = scores.filter(({ error }) => error !== undefined);
  const [shown] = failed;
  if (shown === undefined) return [];
  const evidence = `"${shown.probe}": ${shown.error} (${failed.length} of ${scores.length} outputs)`;
  return [finding("fails", evidence, shown)];
}

/** The same output must get the same reward, also when calls overlap and come in another order. */
function unsteady(first: readonly Scored[], second: readonly Scored[]): RewardFinding[] {
  const pairs = first.map((one, i) => [one, second[i] as Scored] as const);
  const differing = pairs.filter(
    ([a, b]) =>
      a.error === undefined &&
      b.error === undefined &&
      (a.reward !== b.reward || a.isCorrect !== b.isCorrect),
  );
  const [pair] = differing;
  if (pair === undefined) return [];
  const [a, b] = pair;
  const evidence = `"${a.probe}" got ${a.reward}, and ${b.reward} when it was scored again (${differing.length} of ${pairs.length} outputs)`;
  return [finding("nondeterministic", evidence, a)];
}

/** @param second the same outputs, scored again */
export function findFaults(first: readonly Scored[], second: readonly Scored[]): RewardFinding[] {
  const given = first.filter(({ error }) => error === undefined);
  const form = bestForm(given);
  const wrong = badProbes
    .filter(({ fault }) => fault === "pays_wrong_answer" || fault === "pays_refusal")
    .flatMap(({ name }) => byProbe(given, name));
  const low = wrong.length === 0 ? 0 : medianOf(wrong);
  const high = form.length === 0 ? low : medianOf(form);
  const [shown] = form;
  const isRejected =
    shown !== undefined &&
    wrong.length > 0 &&
    high <= low &&
    form.every(({ isCorrect }) => isCorrect !== true);
  // What is paid for is the wrong way round, too, or all outputs are.
  const isBlind =
    isRejected && (high < low || given.every((one) => rewardOf(one) === rewardOf(shown)));
  return [
    ...failures(first),
    ...unsteady(first, second),
    ...(isRejected
      ? [
          finding(
            "rejects_reference",
            `"${shown.probe}" gets ${num(high)}, a wrong answer ${num(low)}`,
            shown,
          ),
        ]
      : []),
    ...(isBlind ? [] : paid(given, high > low ? high : Math.max(1, low + 1), low)),
  ];
}
