/** Rollouts: what responses look like, tools, failures, retries. */
import type { History } from "./history.ts";
import { mostlyAbove, overThreshold, percent, ratio, type Rule, short } from "./rule.ts";

const fraction = (
  disease: Rule["disease"],
  metric: string,
  limit: number,
  says: (value: number) => string,
): Rule => ({
  disease,
  find: (history) =>
    overThreshold(history, { metric, isBad: (value) => value > limit, says, share: 0.5 }),
});

/** A ratio of two metrics that stays above a limit, and is no better than at the beginning. */
function lasting(history: History, above: string, below: string, limit: number) {
  const bad = mostlyAbove(ratio(history, above, below), limit, 0.6);
  const last = bad.at(-1);
  const first = history.train(below)[0]?.value ?? 0;
  const atFirst = first > 0 ? (history.train(above)[0]?.value ?? 0) / first : 0;
  if (last === undefined || last.value < 0.7 * atFirst) return null;
  return { last: last.value, steps: bad.map(({ step }) => step) };
}

const toolErrors: Rule = {
  disease: "tool_errors",
  find(history) {
    if ((history.now("episode/tools/results", 10) ?? 0) < 0.1) return null;
    const seen = lasting(history, "episode/tools/errors", "episode/tools/results", 0.4);
    if (seen === null) return null;
    const { last, steps } = seen;
    return {
      evidence: `${percent(last)} of the tool results report an error (episode/tools/errors of episode/tools/results)`,
      steps,
    };
  },
};

const malformed: Rule = {
  disease: "malformed_tool_calls",
  find(history) {
    const seen = lasting(history, "episode/calls/malformed", "episode/turns", 0.2);
    if (seen === null) return null;
    const { last, steps } = seen;
    return {
      evidence: `${percent(last)} of the calls have a tool call that cannot be parsed (episode/calls/malformed)`,
      steps,
    };
  },
};

const ended =
  /^rollout\/termination_fraction\/(?<reason>error|evaluator_error|user_error|timeout)$/u;

const failed: Rule = {
  disease: "failed_rollouts",
  find(history) {
    const bad = mostlyAbove(ratio(history, "rollout/failed", "rollout/episodes"), 0.05, 0.3);
    const last = bad.at(-1);
    if (last === undefined) return null;
    const reasons = history.names(ended).flatMap((name) => {
      const value = history.now(name, 10) ?? 0;
      return value > 0 ? [`${ended.exec(name)?.groups?.["reason"]} ${percent(value)}`] : [];
    });
    return {
      evidence: `${percent(last.value)} of the rollouts failed${reasons.length === 0 ? "" : `, by reason: ${reasons.join(", ")}`} (rollout/failed)`,
      steps: bad.map(({ step }) => step),
    };
  },
};

const retries: Rule = {
  disease: "retries",
  find(history) {
    const bad = mostlyAbove(ratio(history, "rollout/retries", "rollout/episodes"), 0.1, 0.5);
    const last = bad.at(-1);
    if (last === undefined) return null;
    return {
      evidence: `${short(last.value)} attempts per rollout had to be repeated (rollout/retries)`,
      steps: bad.map(({ step }) => step),
    };
  },
};

/** Sampled text that can be read has far more likely tokens: most models are below 2 nats. */
const noiseNats = 4;

const unreadable = fraction(
  "garbled_output",
  "episode/text/garbled",
  0.1,
  (value) => `${percent(value)} of the rollouts have an unreadable response`,
);
const noise = fraction(
  "garbled_output",
  "train/sampled_nll",
  noiseNats,
  (value) => `sampled tokens have a mean log-probability of ${short(-value)}, which is noise`,
);
const garbled: Rule = {
  disease: "garbled_output",
  find: (history) => unreadable.find(history) ?? noise.find(history),
};

export const rolloutRules: readonly Rule[] = [
  fraction(
    "truncation",
    "episode/truncated",
    0.2,
    (value) => `${percent(value)} of the rollouts have a truncated response`,
  ),
  garbled,
  fraction(
    "repeated_text",
    "episode/text/repeated",
    0.2,
    (value) => `${percent(value)} of the rollouts have a response that repeats itself`,
  ),
  fraction(
    "empty_responses",
    "episode/text/empty",
    0.2,
    (value) => `${percent(value)} of the rollouts have an empty response`,
  ),
  toolErrors,
  malformed,
  failed,
  retries,
  fraction(
    "untrainable_calls",
    "episode/calls/untrainable",
    0.05,
    (value) => `${short(value)} calls per rollout cannot be trained on`,
  ),
];
