/** What the scores of all probes say about a reward. Pure. */
import { median } from "../../../util/median.ts";
import type { RewardFault } from "./faults.ts";
import { badProbes, goodProbes } from "./probes.ts";
import { finding, type RewardFinding } from "./report.ts";
import type { Scored } from "./score-probe.ts";

const num = (value: number): string => String(Number(value.toPrecision(4)));
const rewardOf = ({ reward }: Scored): number => reward ?? 0;
const goodNames = goodProbes.map(({ name }) => name);
/** Forms that say the same, and that no format asks for. */
const sameForms = [goodNames[0], goodNames[1]];

interface Scale {
  /** Reward of what is right. */
  readonly high: number;
  /** Reward of what is not. */
  readonly low: number;
}

const byProbe = (scores: readonly Scored[], probe: string): readonly Scored[] =>
  scores.filter((one) => one.probe === probe && one.failure === null);

const isWrong = (scores: readonly Scored[]): readonly Scored[] =>
  badProbes
    .filter(({ fault }) => fault === "pays_wrong_answer" || fault === "pays_refusal")
    .flatMap(({ name }) => byProbe(scores, name));

/** Rewards of the form of the reference answer that gets the most; null without a reference. */
function bestForm(scores: readonly Scored[]): readonly Scored[] | null {
  const forms = goodNames.map((name) => byProbe(scores, name)).filter((form) => form.length > 0);
  if (forms.length === 0) return null;
  const typical = (form: readonly Scored[]): number => median(form.map(rewardOf));
  return forms.reduce((best, form) => (typical(form) > typical(best) ? form : best));
}

/** The range of the reward, as far as it is known. */
function scaleOf(scores: readonly Scored[], real: readonly number[]): Scale {
  const form = bestForm(scores);
  const wrong = isWrong(scores).map(rewardOf);
  const low = wrong.length === 0 ? Math.min(0, ...scores.map(rewardOf)) : median(wrong);
  const right = form === null ? 1 : median(form.map(rewardOf));
  const high = Math.max(right, ...(form === null ? real : []));
  return { high: high > low ? high : Math.max(1, low + 1), low: Math.min(low, high) };
}

/** Most of what a right answer gets. */
const passingScore = ({ high, low }: Scale): number => low + 0.6 * (high - low);

const isPaid = (one: Scored, scale: Scale): boolean =>
  one.failure === null && (one.isCorrect === true || rewardOf(one) >= passingScore(scale));

/** An output is paid for only where this fraction of the tasks pays for it. */
const enough = 0.3;

function paid(scores: readonly Scored[], scale: Scale): RewardFinding[] {
  const found = new Map<RewardFault, RewardFinding>();
  for (const { name, fault } of badProbes) {
    const cases = byProbe(scores, name);
    const bad = cases.filter((one) => isPaid(one, scale));
    const [shown] = bad.toSorted((a, b) => rewardOf(b) - rewardOf(a));
    if (fault === null || shown === undefined || bad.length < enough * cases.length) continue;
    if (found.has(fault)) continue;
    const evidence = `"${name}" gets ${num(rewardOf(shown))}${shown.isCorrect === true ? " and counts as correct" : ""} in ${bad.length} of ${cases.length} tasks; a right answer gets ${num(scale.high)}`;
    found.set(fault, finding(fault, evidence, shown));
  }
  return [...found.values()];
}

/** How it treats the reference answer. */
function reference(scores: readonly Scored[]): RewardFinding[] {
  const form = bestForm(scores);
  const wrong = isWrong(scores);
  if (form === null || wrong.length === 0) return [];
  const right = median(form.map(rewardOf));
  const other = median(wrong.map(rewardOf));
  const [shown] = form;
  const evidence = `"${shown?.probe}" gets ${num(right)}, a wrong answer ${num(other)}`;
  const plain = byProbe(scores, sameForms[0] ?? "");
  if (median(plain.map(rewardOf)) < other)
    return [
      finding(
        "inverted",
        `"${plain[0]?.probe}" gets ${num(median(plain.map(rewardOf)))}, a wrong answer ${num(other)}`,
        plain[0] ?? null,
      ),
    ];
  const isRejected = right <= other && form.every(({ isCorrect }) => isCorrect !== true);
  if (isRejected) return [finding("rejects_reference", evidence, shown ?? null)];
  const scale = { high: right, low: other };
  const accepted = plain.filter((one) => isPaid(one, scale));
  const strict = accepted.flatMap((one) =>
    scores.filter(
      (same) => same.probe === sameForms[1] && same.taskId === one.taskId && !isPaid(same, scale),
    ),
  );
  const [first] = strict;
  if (first === undefined || strict.length < enough * accepted.length) return [];
  return [
    finding(
      "too_strict",
      `"${first.probe}" gets ${num(rewardOf(first))} in ${strict.length} of ${accepted.length} tasks, without white space ${num(right)}`,
      first,
    ),
  ];
}

function failures(scores: readonly Scored[]): RewardFinding[] {
  return (["throws", "no_score", "times_out"] as const).flatMap((failure) => {
    const failed = scores.filter((one) => one.failure === failure);
    const [shown] = failed;
    if (shown === undefined) return [];
    return [
      finding(
        failure,
        `"${shown.probe}": ${shown.error ?? failure} (${failed.length} of ${scores.length} outputs)`,
        shown,
      ),
    ];
  });
}

function disagreement(scores: readonly Scored[]): RewardFinding[] {
  const shown = scores.find(
    ({ isCorrect, reward }) =>
      reward !== null &&
      ((isCorrect === true && reward <= 0) || (isCorrect === false && reward >= 1)),
  );
  if (shown === undefined) return [];
  const evidence = `"${shown.probe}" gets ${num(rewardOf(shown))} and counts as ${shown.isCorrect === true ? "correct" : "incorrect"}`;
  return [finding("inconsistent", evidence, shown)];
}

function beyond(scores: readonly Scored[], { high }: Scale): RewardFinding[] {
  const size = (one: Scored): number => Math.abs(rewardOf(one));
  const [largest] = scores.toSorted((a, b) => size(b) - size(a));
  if (largest === undefined || size(largest) <= 10 * Math.max(1, Math.abs(high))) return [];
  const evidence = `"${largest.probe}" gets ${num(rewardOf(largest))}; a right answer gets ${num(high)}`;
  return [finding("unbounded", evidence, largest)];
}

/** @param real Rewards of real rollouts. */
export function judgeScores(scores: readonly Scored[], real: readonly number[]): RewardFinding[] {
  const failed = failures(scores);
  const given = scores.filter(({ failure }) => failure === null);
  const rewards = new Set(given.map(rewardOf));
  const scale = scaleOf(given, real);
  if (rewards.size === 1 && given.length > 1) {
    const [only] = rewards;
    const isKnown = bestForm(given) !== null;
    // Without a reference answer, none of the probes may deserve anything.
    if (!isKnown && only !== undefined && only < 1) return failed;
    return [
      ...failed,
      finding("constant", `all ${given.length} outputs get ${num(only ?? 0)}`, given[0] ?? null),
    ];
  }
  const about = reference(given);
  const isUpsideDown = about.some(({ fault }) => fault === "inverted");
  return [
    ...failed,
    ...about,
    // What is paid for is turned around, too.
    ...(isUpsideDown ? [] : paid(given, scale)),
    ...disagreement(given),
    ...beyond(given, scale),
  ];
}
