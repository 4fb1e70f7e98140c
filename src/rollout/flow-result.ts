/** What a flow returned: trajectory reports, or a plain value. Knows nothing of captured calls. */
import type { TrajectoryReport } from "../core/agent.ts";
import { AgentTrainerError } from "../core/errors.ts";
import { describeValue } from "./error-facts.ts";

export interface FlowResult {
  readonly reports: readonly TrajectoryReport[];
  /** The plain value; `undefined` when the flow reported trajectories. */
  readonly output: unknown;
}

/** @throws AgentTrainerError (`ROLLOUT_FAILED`) when it is neither, or a report is malformed. */
export function readFlowResult(returned: unknown): FlowResult {
  if (isReport(returned)) return { reports: [checkReport(returned)], output: undefined };
  if (Array.isArray(returned) && returned.some(isReport)) {
    return { reports: returned.map(checkItem), output: undefined };
  }
  if (typeof returned === "function" || typeof returned === "symbol") {
    throw wrongResult(`The agent flow returned ${describeValue(returned)}.`);
  }
  return { reports: [], output: returned };
}

/** Only the mark: reports come from user code that may not be typed. */
function isReport(value: unknown): value is { readonly kind: "trajectory" } {
  return (
    typeof value === "object" && value !== null && "kind" in value && value.kind === "trajectory"
  );
}

function checkItem(item: unknown, index: number): TrajectoryReport {
  if (isReport(item)) return checkReport(item);
  throw wrongResult(
    `The agent flow returned a list of trajectory reports, but item ${index} is ${describeValue(item)}.`,
  );
}

function checkReport(report: object): TrajectoryReport {
  const { name, uid, reward, metadata } = report as Readonly<Record<string, unknown>>;
  if (typeof name !== "string" || name === "") {
    throw wrongResult(
      `A trajectory report must have a name, but its name is ${describeValue(name)}.`,
    );
  }
  const of = `The trajectory report "${name}"`;
  if (uid !== undefined && typeof uid !== "string") {
    throw wrongResult(`${of} has the uid ${describeValue(uid)}, which is not a string.`);
  }
  if (reward !== undefined && !Number.isFinite(reward)) {
    throw wrongResult(
      `${of} has the reward ${describeValue(reward)}, which is not a finite number.`,
    );
  }
  if (metadata !== undefined && (typeof metadata !== "object" || metadata === null)) {
    throw wrongResult(`${of} has the metadata ${describeValue(metadata)}, which is not an object.`);
  }
  return report as TrajectoryReport;
}

function wrongResult(message: string): AgentTrainerError {
  return new AgentTrainerError({
    code: "ROLLOUT_FAILED",
    message,
    hint: "Return a plain value, a reportTrajectory(...), or a list of only those.",
  });
}
