/**
 * What of a step's rollouts is in no row of its update: counted by call, and the reasons, with how to
 * include it. What is excluded in silence looks as if it had been trained on.
 */
import type { TrainConfig } from "../../config/train-config.ts";
import type { TrainingRow } from "../../core/loss/training-row.ts";
import type { NamedMetrics } from "../../core/metric-names.ts";
import type { Episode } from "../../core/trajectory.ts";

/** Calls with a trained token, by episode; the choices of one call are one. */
function trainedCalls(rows: readonly TrainingRow[]): Map<string, Set<string>> {
  const traces = new Map<string, Set<string>>();
  for (const { provenance, segments, targetMask } of rows) {
    const own = traces.get(provenance.episodeId) ?? new Set();
    traces.set(provenance.episodeId, own);
    for (const { kind, traceId, start, end } of segments)
      if (kind === "response" && targetMask.subarray(start, end).includes(1)) own.add(traceId);
  }
  return traces;
}

interface CallCount {
  readonly made: number;
  readonly trained: number;
}

function callsOf(episode: Episode, trained: ReadonlySet<string>): CallCount {
  const made = new Set<string>();
  const used = new Set<string>();
  for (const { steps } of episode.trajectories) {
    for (const { trace } of steps) {
      const call = trace.responseId === "" ? trace.id : trace.responseId;
      made.add(call);
      if (trained.has(trace.id)) used.add(call);
    }
  }
  // Calls that cannot be trained on, or belong to no trajectory, are in none.
  return { made: Math.max(made.size, episode.metrics["turns"] ?? 0), trained: used.size };
}

/** `rollout/unused` and `rollout/unused_calls`. */
export function unusedMetrics(
  episodes: readonly Episode[],
  rows: readonly TrainingRow[],
): Record<string, number> {
  const byEpisode = trainedCalls(rows);
  let rollouts = 0;
  let calls = 0;
  for (const episode of episodes) {
    const { made, trained } = callsOf(episode, byEpisode.get(episode.id) ?? new Set());
    if (trained < made || trained === 0) rollouts++;
    calls += made - trained;
  }
  return { "rollout/unused": rollouts, "rollout/unused_calls": calls };
}

interface Reason {
  readonly count: number;
  /** Continues "N calls of step S ". */
  readonly why: string;
  readonly how: string;
  /** The options or the agent say so: no more than a notice. */
  readonly isWanted?: boolean;
}

type Named = readonly (readonly [string, Reason])[];

function howToTrain(what: string): string {
  const option = ["rollout.untrained_roles", "model.adapter_by_role"].find((name) =>
    what.startsWith(name),
  );
  return option === undefined
    ? "Without train: false, it is included"
    : `A new run without that role in ${option} includes it`;
}

/** Calls of trajectories that the agent, the run or a rule excludes. */
function untrained(episodes: readonly Episode[]): Named {
  const reasons = new Map<string, Reason>();
  for (const { steps, untrained: what, name } of episodes.flatMap(
    ({ trajectories }) => trajectories,
  )) {
    if (what === undefined || steps.length === 0) continue;
    const rule = /^side call: (?<rule>.*)$/su.exec(what)?.groups?.["rule"];
    const key = rule === undefined ? `untrained ${name}` : what;
    const count = (reasons.get(key)?.count ?? 0) + steps.length;
    reasons.set(
      key,
      rule === undefined
        ? {
            count,
            why: `belong to the trajectory "${name}", which is not trained on: ${what}`,
            how: howToTrain(what),
            isWanted: true,
          }
        : {
            count,
            why: `are not trained on, because the rule "${rule}" takes them for side calls`,
            how: "rollout.side_calls=train includes them",
            isWanted: true,
          },
    );
  }
  return [...reasons];
}

/** What the gateway or the rollout excluded from all trajectories. */
function uncaptured(episodes: readonly Episode[]): Named {
  const sum = (name: string): number =>
    episodes.reduce((total, { metrics }) => total + (metrics[`calls/${name}`] ?? 0), 0);
  return [
    [
      "undecided",
      {
        count: sum("undecided_choices"),
        why: "with n > 1 are not trained on, since it is unknown which choice the agent used: no later request holds one, and the output is not the text of one",
        how: "Name it with defineTrajectory({ name, steps: [{ responseId, choice }] })",
      },
    ],
    [
      "untrainable",
      {
        count: sum("untrainable"),
        why: "cannot be trained on: the server did not return all token ids and log-probabilities of them, or the client left before their end",
        how: "docs/gateway.md says what a server has to return",
      },
    ],
    [
      "unattributed",
      {
        count: sum("unattributed"),
        why: "were made to an endpoint of a trajectory that the agent did not request, so they are not trained on",
        how: "Use the URLs of config.baseUrl and config.trajectory(...) of the same rollout",
      },
    ],
  ];
}

/** What options of the rows exclude: calls of truncated trajectories, and whole rows. */
function excludedRows(
  { algorithm }: TrainConfig,
  metrics: Readonly<NamedMetrics>,
): { readonly calls: Named; readonly rows: Named } {
  const fraction = metrics["rollout_correction/rollout_rs_seq_dropped_fraction"] ?? 0;
  const { reject, rolloutTokenVetoThreshold } = algorithm.rolloutCorrection;
  const rules = [
    ...(reject.length === 0 ? [] : ["algorithm.rollout_correction.reject"]),
    ...(rolloutTokenVetoThreshold === null
      ? []
      : ["algorithm.rollout_correction.rollout_token_veto_threshold"]),
  ];
  const truncated: Reason = {
    count: metrics["rows/dropped/truncated"] ?? 0,
    why: "are in rows with a truncated response, which algorithm.mask_truncated_samples keeps out of training",
    how: "algorithm.mask_truncated_samples=false includes them",
    isWanted: true,
  };
  const rejected: Reason = {
    count: Math.round(fraction * (metrics["rows/count"] ?? 0)),
    why: `were rejected with every token by ${rules.join(" or ")}, so they are not trained on`,
    how: `${rules.map((name) => `${name}=null`).join(", ")} includes them, and another threshold more of them`,
    isWanted: true,
  };
  return { calls: [["truncated", truncated]], rows: [["rejected", rejected]] };
}

/** What groups and filters dropped: rollouts, trajectories or groups instead of calls. */
function dropped(
  config: TrainConfig,
  episodes: readonly Episode[],
  metrics: Readonly<NamedMetrics>,
): Named {
  const { excludedReasons } = config.algorithm;
  const masked = episodes.filter(({ terminationReason }) =>
    (excludedReasons as readonly string[]).includes(terminationReason),
  );
  const names = [...new Set(masked.map(({ terminationReason }) => terminationReason))];
  return [
    [
      "masked",
      {
        count: masked.length,
        why: `ended with ${names.join(", ")}, which algorithm.excluded_reasons keeps out of training`,
        how: `algorithm.excluded_reasons without ${names.join(", ")} includes them`,
        isWanted: true,
      },
    ],
    [
      "no reward",
      {
        count: metrics["groups/dropped/no_reward"] ?? 0,
        why: "have no reward, so they are not trained on",
        how: "Report a reward for each, or for none: then all have the evaluator's",
      },
    ],
    [
      "uniform",
      {
        count: metrics["groups/dropped/uniform_trajectories"] ?? 0,
        why: "are in groups whose advantages are all 0, as with equal rewards, so they are not trained on",
        how: "algorithm.filter_uniform_groups=false includes them, with advantages of 0",
        isWanted: true,
      },
    ],
  ];
}

/** A reason that applies to some of a step's rollouts. */
export interface UnusedReason extends Reason {
  readonly key: string;
  readonly what: "calls" | "rows" | "rollouts" | "trajectories";
}

/** Why what was rolled out is in no row. */
export function unusedReasons(
  config: TrainConfig,
  episodes: readonly Episode[],
  metrics: Readonly<NamedMetrics>,
): readonly UnusedReason[] {
  const excluded = excludedRows(config, metrics);
  const [masked, ...groups] = dropped(config, episodes, metrics);
  const all: readonly (readonly [UnusedReason["what"], Named])[] = [
    ["calls", [...untrained(episodes), ...uncaptured(episodes), ...excluded.calls]],
    ["rows", excluded.rows],
    ["rollouts", [masked!]],
    ["trajectories", groups],
  ];
  return all.flatMap(([what, reasons]) =>
    reasons.flatMap(([key, reason]) => (reason.count === 0 ? [] : [{ ...reason, key, what }])),
  );
}
