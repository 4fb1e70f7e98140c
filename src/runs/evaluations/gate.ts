/** Whether a candidate is better than the model in use: a rule held against evaluations of both. Pure. */
import {
  type ComparableEvaluation,
  compareEvaluations,
  itemsOf,
  meansOf,
  type TaskMeans,
} from "./compare.ts";
import type { EvaluationItem } from "./evaluation-item.ts";
import type {
  GateInput,
  GateMiss,
  GatePair,
  GateRatio,
  GateReport,
  GateSlice,
  Regressions,
} from "./gate-report.ts";
import { checkRule, type GateRule } from "./gate-rule.ts";
import { slicesOf } from "./slices.ts";

type Loaded = Exclude<ComparableEvaluation, string>;
type LoadedPair = { readonly current: Loaded; readonly candidate: Loaded };

/** Folders are read once. */
function load({ current, candidate }: GatePair): LoadedPair {
  const [a, b] = [current, candidate].map((one) => {
    const { items, failureReward } = itemsOf(one);
    return { items, summary: { failureReward } };
  }) as [Loaded, Loaded];
  return { current: a, candidate: b };
}

const only = ({ items, summary }: Loaded, ids: ReadonlySet<string>): Loaded => ({
  items: items.filter(({ id }) => ids.has(id)),
  summary,
});

/** At least half of its attempts are correct; without correctness, its mean reward is at least 1. */
const isSolved = ({ pass, reward }: TaskMeans): boolean =>
  pass === null ? reward !== null && reward >= 1 : pass >= 0.5;

const signed = (value: number): string => `${value < 0 ? "" : "+"}${value.toFixed(3)}`;

/** Tasks that one side lacks: a candidate must not be better for what was left out. */
function coverageMiss(
  { current, candidate }: LoadedPair,
  what: string,
  expected: readonly string[] = [],
): GateMiss[] {
  const [a, b] = [meansOf(current), meansOf(candidate)];
  const hasRewards = [...a.values(), ...b.values()].some(({ reward }) => reward !== null);
  const isMeasured = (task: TaskMeans | undefined): boolean =>
    task !== undefined && (task.reward !== null || !hasRewards);
  const ids = [...new Set([...expected, ...a.keys(), ...b.keys()])];
  const missing = ids.filter((id) => !isMeasured(a.get(id)) || !isMeasured(b.get(id)));
  if (missing.length === 0) return [];
  const message = `${missing.length} of ${ids.length} ${what} were not measured with both models, such as ${missing.slice(0, 3).join(", ")}`;
  return [{ rule: "coverage", message, missedBy: missing.length }];
}

function gainMiss({ reward, pass, tasks }: GateReport["heldOut"], minGain: number): GateMiss[] {
  const low = (reward ?? pass)?.low ?? null;
  if (low === null) {
    const message = `${tasks} held-out tasks are too few for an interval, which takes at least 6`;
    return [{ rule: "gain", message, missedBy: null }];
  }
  if (low > minGain) return [];
  const message = `the interval of the gain begins at ${signed(low)}, and must lie above ${signed(minGain)}`;
  return [{ rule: "gain", message, missedBy: minGain - low }];
}

function sliceMisses(slices: readonly GateSlice[], most: number): GateMiss[] {
  return slices.flatMap(({ field, value, difference, counts }) => {
    const loss = -(difference?.difference ?? 0);
    if (!counts || loss <= most) return [];
    const message = `${field}=${value} changed by ${signed(-loss)}, and may lose ${most}`;
    return [{ rule: "slice" as const, message, missedBy: loss - most }];
  });
}

function regressionMiss({ lost, tasks }: Regressions, most: number): GateMiss[] {
  if (lost.length <= most) return [];
  const message = `${lost.length} of ${tasks} regression tasks are no longer solved, and ${most} may be: ${lost.slice(0, 3).join(", ")}`;
  return [{ rule: "regressions", message, missedBy: lost.length - most }];
}

function ratioMiss(rule: "cost" | "latency", found: GateRatio, most: number | null): GateMiss[] {
  const { ratio, current, candidate } = found;
  if (most === null || (ratio !== null && ratio <= most)) return [];
  if (ratio === null) {
    if (candidate <= current) return [];
    const message = `the ${rule} of the model in use is 0, so there is no multiple of it`;
    return [{ rule, message, missedBy: null }];
  }
  const message = `${rule} per attempt is ${ratio.toFixed(3)} times that of the model in use, and may be ${most} times`;
  return [{ rule, message, missedBy: ratio - most }];
}

function ratioOf(pair: LoadedPair, value: (item: EvaluationItem) => number): GateRatio {
  const mean = ({ items }: Loaded): number =>
    items.reduce((sum, item) => sum + value(item), 0) / Math.max(1, items.length);
  const [current, candidate] = [mean(pair.current), mean(pair.candidate)];
  return { current, candidate, ratio: current === 0 ? null : candidate / current };
}

/** Tasks that only one of both solves. */
function changedSides({ current, candidate }: LoadedPair): {
  readonly lost: readonly string[];
  readonly gained: readonly string[];
} {
  const [a, b] = [meansOf(current), meansOf(candidate)];
  const solvedOnly = (one: typeof a, other: typeof a): string[] =>
    [...one].flatMap(([id, task]) => {
      const second = other.get(id);
      return second !== undefined && isSolved(task) && !isSolved(second) ? [id] : [];
    });
  return { lost: solvedOnly(a, b), gained: solvedOnly(b, a) };
}

function regressionsOf(pair: LoadedPair): Regressions {
  const current = [...meansOf(pair.current).values()];
  const { lost } = changedSides(pair);
  return { tasks: current.length, solved: current.filter(isSolved).length, lost };
}

function slicesIn(
  input: GateInput,
  pair: LoadedPair,
  rule: Required<GateRule>,
): readonly GateSlice[] {
  const { seed, minSliceTasks } = rule;
  const common = new Set(meansOf(pair.candidate).keys());
  return slicesOf(input.current, rule.slices).flatMap(({ field, value, ids }) => {
    const both = new Set([...ids].filter((id) => common.has(id)));
    if (both.size === 0) return [];
    const { tasks, reward, pass } = compareEvaluations(
      only(pair.current, both),
      only(pair.candidate, both),
      { seed },
    );
    const counts = tasks >= minSliceTasks;
    return [{ field, value, tasks, difference: reward ?? pass, counts }];
  });
}

/**
 * Whether a candidate is better than the model in use: a gain on held-out tasks that is not chance, no slice of
 * them that lost more than allowed, tasks that stay solved, and limits on cost and latency.
 *
 * @throws ConfigError for limits out of their bounds, or evaluations without a common task.
 *
 * @example
 * const { verdict, misses } = gateEvaluations({ current: "evals/a", candidate: "evals/b" }, { minGain: 0.01 });
 */
export function gateEvaluations(input: GateInput, given: GateRule = {}): GateReport {
  const rule = checkRule(given);
  const { prices, seed } = rule;
  const pair = load(input);
  const { tasks, reward, pass, changed } = compareEvaluations(pair.current, pair.candidate, {
    seed,
  });
  const heldOut = { tasks, reward, pass, changed };
  const slices = slicesIn(input, pair, rule);
  const held = input.regressions === undefined ? null : load(input.regressions);
  const regressions = held === null ? null : regressionsOf(held);
  const cost = ratioOf(
    pair,
    ({ usage }) => usage.promptTokens * prices.prompt + usage.responseTokens * prices.sampled,
  );
  const latency = ratioOf(pair, ({ latencyMs }) => latencyMs);
  const misses = [
    ...coverageMiss(pair, "held-out tasks"),
    ...(held === null ? [] : coverageMiss(held, "regression tasks", input.regressions?.ids)),
    ...gainMiss(heldOut, rule.minGain),
    ...sliceMisses(slices, rule.maxSliceLoss),
    ...(regressions === null ? [] : regressionMiss(regressions, rule.maxRegressions)),
    ...ratioMiss("cost", cost, rule.maxCost),
    ...ratioMiss("latency", latency, rule.maxLatency),
  ];
  const { gained } = changedSides(pair);
  const verdict = misses.length === 0 ? "better" : "not better";
  return { verdict, misses, heldOut, slices, regressions, gained, cost, latency, rule };
}
