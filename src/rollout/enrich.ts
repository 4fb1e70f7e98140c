/** Captured calls and the flow's reports to trajectories. Knows nothing of sessions or evaluators. */
import type { TrajectoryReport } from "../core/agent.ts";
import { AgentTrainerError } from "../core/errors.ts";
import type { Trace } from "../core/trace.ts";
import type { Step, Trajectory } from "../core/trajectory.ts";
import { trajectoryUid } from "./attribution.ts";
import type { AttributionContext, CapturedTrajectory } from "./attribution.ts";

function toStep(trace: Trace, index: number, all: readonly Trace[]): Step {
  return {
    traceId: trace.id,
    messages: trace.messages,
    response: trace.response,
    promptIds: trace.promptIds,
    responseIds: trace.responseIds,
    logprobs: trace.logprobs,
    stopReason: trace.stopReason,
    sampling: trace.sampling,
    weightVersion: trace.weightVersion,
    reward: 0,
    done: index === all.length - 1,
  };
}

function toTrajectory(
  uid: string,
  name: string,
  traces: readonly Trace[],
  report: TrajectoryReport | undefined,
): Trajectory {
  return {
    uid,
    name: report?.name ?? name,
    steps: traces.map(toStep),
    reward: report?.reward ?? null,
    signals: {},
    ...(report?.output === undefined ? {} : { output: report.output }),
    metadata: report?.metadata ?? {},
  };
}

/** Uid of the trajectory that a report speaks of. */
function resolveReport(
  report: TrajectoryReport,
  captured: readonly CapturedTrajectory[],
  context: AttributionContext,
  isOnlyReport: boolean,
): string {
  const { uid, name } = report;
  if (uid !== undefined && (context.handles.has(uid) || captured.some((own) => own.uid === uid))) {
    return uid;
  }
  const sameName = captured.find((own) => own.name === name);
  if (sameName !== undefined) return sameName.uid;
  // A flow that asked for no handle and reports one trajectory means all of its calls.
  const [only] = captured;
  if (isOnlyReport && context.handles.size === 0 && only !== undefined) return only.uid;
  return uid ?? trajectoryUid(context, name);
}

/**
 * One trajectory per captured one, in their order, then one without steps per report that matches no
 * call. A report matches by uid, else by name; its name, reward, output and metadata win. Reports with
 * different uids may share a name: several solvers in one role. With neither calls nor reports there is
 * one empty trajectory, so that a flow that never called the model is seen and counted later.
 *
 * @throws AgentTrainerError (`ROLLOUT_FAILED`) when two reports speak of the same trajectory.
 */
export function buildTrajectories(
  captured: readonly CapturedTrajectory[],
  reports: readonly TrajectoryReport[],
  context: AttributionContext,
): readonly Trajectory[] {
  const reportByUid = new Map<string, TrajectoryReport>();
  for (const report of reports) {
    const uid = resolveReport(report, captured, context, reports.length === 1);
    const other = reportByUid.get(uid);
    if (other !== undefined) throw reportedTwice(other, report);
    reportByUid.set(uid, report);
  }
  const trajectories = captured.map(({ uid, name, traces }) => {
    const report = reportByUid.get(uid);
    reportByUid.delete(uid);
    return toTrajectory(uid, name, traces, report);
  });
  for (const [uid, report] of reportByUid) {
    trajectories.push(toTrajectory(uid, report.name, [], report));
  }
  if (trajectories.length > 0) return trajectories;
  const { defaultName } = context;
  return [toTrajectory(trajectoryUid(context, defaultName), defaultName, [], undefined)];
}

function reportedTwice(first: TrajectoryReport, second: TrajectoryReport): AgentTrainerError {
  const names =
    first.name === second.name ? `"${first.name}" twice` : `"${first.name}" and "${second.name}"`;
  return new AgentTrainerError({
    code: "ROLLOUT_FAILED",
    message: `The agent flow reported ${names}, which is one and the same trajectory.`,
    hint: "Give each its own endpoint with config.trajectory(...) and put its uid in the report.",
    fields: { names: [first.name, second.name] },
  });
}
