/** Names what is wrong with a run, from its metrics alone. Pure, so that any caller can use it. */
import {
  diseaseFacts,
  type DiseaseName,
  diseaseNames,
  type HealthFinding,
} from "../../core/health.ts";
import { History, type MetricLine } from "./history.ts";
import { offPolicyRules } from "./off-policy.ts";
import { policyRules } from "./policy.ts";
import { rewardRules } from "./rewards.ts";
import { rolloutRules } from "./rollouts.ts";
import type { Find, Rules } from "./rule.ts";
import { updateRules } from "./updates.ts";

const rules: Rules = {
  ...rewardRules,
  ...updateRules,
  ...policyRules,
  ...rolloutRules,
  ...offPolicyRules,
};

function findingOf(disease: DiseaseName, find: Find, history: History): HealthFinding[] {
  const seen = find(history);
  if (seen === null) return [];
  const { title, severity, advice, only } = diseaseFacts[disease];
  return [
    {
      disease,
      name: title,
      severity,
      ...seen,
      advice,
      doc: `docs/health.md#${disease.replaceAll("_", "-")}`,
      ...(only === undefined ? {} : { filter: { only } }),
    },
  ];
}

const rank = ({ severity, disease }: HealthFinding): number =>
  (severity === "problem" ? 0 : diseaseNames.length) + diseaseNames.indexOf(disease);

/** What a history shows now; consequences of what is found are left out, and the worst comes first. */
export function examine(history: History): readonly HealthFinding[] {
  const found = Object.entries(rules).flatMap(([disease, find]) =>
    findingOf(disease as DiseaseName, find, history),
  );
  const explained = new Set(
    found.flatMap(({ disease }): readonly string[] => diseaseFacts[disease].explains ?? []),
  );
  return found
    .filter(({ disease }) => !explained.has(disease))
    .toSorted((a, b) => rank(a) - rank(b));
}

/** The same for the lines of a `metrics.jsonl`, in order. */
export function findProblems(lines: Iterable<MetricLine>): readonly HealthFinding[] {
  return examine(new History(lines));
}
