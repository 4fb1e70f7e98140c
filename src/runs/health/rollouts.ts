/** Rollouts: what responses look like, tools, failures, retries. */
import type { History } from "./history.ts";
import {
  above,
  type Find,
  firstOf,
  mostlyAbove,
  percent,
  ratio,
  type Rules,
  type Seen,
  short,
  warning,
} from "./rule.ts";
import { entropyRose } from "./policy.ts";

/** A ratio of two metrics that stays above a limit, and is no better than at the beginning. */
function lasting(
  history: History,
  [part, whole]: readonly [part: string, whole: string],
  limit: number,
  says: (value: number) => string,
): Seen | null {
  const bad = mostlyAbove(ratio(history, part, whole), limit, 0.6);
  const last = bad.at(-1);
  const first = history.train(whole)[0]?.value ?? 0;
  const atFirst = first > 0 ? (history.train(part)[0]?.value ?? 0) / first : 0;
  if (last === undefined || last.value < 0.7 * atFirst) return null;
  return { evidence: says(last.value), steps: bad.map(({ step }) => step) };
}

function toolErrors(history: History): Seen | null {
  if ((history.now("episode/tools/results", 10) ?? 0) < 0.1) return null;
  return lasting(
    history,
    ["episode/tools/errors", "episode/tools/results"],
    0.4,
    (value) =>
      `${percent(value)} of the tool results report an error (episode/tools/errors of episode/tools/results)`,
  );
}

const malformed: Find = (history) =>
  lasting(
    history,
    ["episode/calls/malformed", "episode/turns"],
    0.2,
    (value) =>
      `${percent(value)} of the calls have a tool call that cannot be parsed (episode/calls/malformed)`,
  );

const ended =
  /^rollout\/termination_fraction\/(?<reason>error|evaluator_error|user_error|timeout)$/u;

function failed(history: History): Seen | null {
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
}

function retries(history: History): Seen | null {
  const bad = mostlyAbove(ratio(history, "rollout/retries", "rollout/episodes"), 0.1, 0.5);
  const last = bad.at(-1);
  if (last === undefined) return null;
  return {
    evidence: `${short(last.value)} attempts per rollout had to be repeated (rollout/retries)`,
    steps: bad.map(({ step }) => step),
  };
}

/** Sampled text that can be read has far more likely tokens: most models are below 2 nats. */
const noiseNats = 4;

const unreadable = above(
  "episode/text/garbled",
  0.1,
  (value) => `${percent(value)} of the rollouts have an unreadable response`,
);
const noise = above(
  "train/sampled_nll",
  noiseNats,
  (value) => `sampled tokens have a mean log-probability of ${short(-value)}, which is noise`,
);
export const rolloutRules: Rules = {
  truncation: above(
    "episode/truncated",
    0.2,
    (value) => `${percent(value)} of the rollouts have a truncated response`,
  ),
  garbled_output: firstOf(unreadable, noise, entropyRose),
  repeated_text: above(
    "episode/text/repeated",
    0.2,
    (value) => `${percent(value)} of the rollouts have a response that repeats itself`,
  ),
  tool_errors: toolErrors,
  malformed_tool_calls: malformed,
  failed_rollouts: firstOf(failed, warning(retries)),
  untrainable_calls: above(
    "episode/calls/untrainable",
    0.05,
    (value) => `${short(value)} calls per rollout cannot be trained on`,
  ),
};
