/** Builds trajectories from captured calls and the flow's reports. */
import { AgentTrainerError } from "../../core/errors.ts";
import type { StepReport, TrajectoryReport } from "../../core/report.ts";
import { adapterOfRole, type RoleAdapters } from "../../core/session.ts";
import type { Trace } from "../../core/trace.ts";
import type { Step, Trajectory } from "../../core/trajectory.ts";
import { groupBy } from "../../util/group-by.ts";
import { defined } from "../../util/defined.ts";
import { trajectoryUid, type AttributionContext, type CapturedTrajectory } from "./attribution.ts";

/** Of the rewards that were given; undefined where none was. */
function sumOf(reports: readonly StepReport[]): number | undefined {
  const given = reports.flatMap(({ reward }) => reward ?? []);
  return given.length === 0 ? undefined : given.reduce((sum, reward) => sum + reward, 0);
}

function toStep(trace: Trace, isLast: boolean, reports: readonly StepReport[]): Step {
  const action = reports.findLast((report) => report.action !== undefined)?.action;
  const advantage = reports.findLast((report) => report.advantage !== undefined)?.advantage;
  return {
    trace,
    ...defined({ action }),
    ...defined({ reward: sumOf(reports) }),
    done: reports.findLast(({ done }) => done !== undefined)?.done ?? isLast,
    ...defined({ advantage }),
  };
}

/**
 * Steps with what was reported about them. A report that names a choice applies to it; others apply
 * to the call, and its first step has them.
 */
function toSteps(traces: readonly Trace[], reports: readonly StepReport[] = []): Step[] {
  const byResponse = groupBy(reports, ({ responseId }) => responseId);
  return traces.map((trace, index) => {
    const ofCall = byResponse.get(trace.responseId) ?? [];
    const isOwn = ({ choice }: StepReport): boolean =>
      choice === undefined || choice === trace.choice;
    byResponse.set(
      trace.responseId,
      ofCall.filter((report) => !isOwn(report)),
    );
    return toStep(trace, index === traces.length - 1, ofCall.filter(isOwn));
  });
}

function toTrajectory(
  uid: string,
  role: string,
  traces: readonly Trace[],
  report: TrajectoryReport | undefined,
  training: TrainingMarks,
): Trajectory {
  const name = report?.name ?? role;
  const untrained = whyUntrained(uid, name, report, training);
  return {
    uid,
    name,
    steps: toSteps(traces, report?.steps),
    reward: report?.reward ?? null,
    signals: report?.signals ?? {},
    ...(report?.output === undefined ? {} : { output: report.output }),
    metadata: report?.metadata ?? {},
    ...(untrained === null ? {} : { untrained }),
  };
}

/** What is excluded from training. */
export interface TrainingMarks {
  /** Uids of handles that were requested with `train: false`. */
  readonly untrainedUids: ReadonlySet<string>;
  /** The run's own setting; a flow cannot override it. */
  readonly untrainedRoles: readonly string[];
  /** Adapters of roles. @default none */
  readonly adapters?: RoleAdapters;
}

const trainAll: TrainingMarks = { untrainedUids: new Set(), untrainedRoles: [] };

function whyUntrained(
  uid: string,
  name: string,
  report: TrajectoryReport | undefined,
  { untrainedUids, untrainedRoles, adapters }: TrainingMarks,
): string | null {
  if (untrainedRoles.includes(name)) return `rollout.untrained_roles has "${name}"`;
  if (adapters !== undefined && adapterOfRole(adapters, name) === null)
    return `model.adapter_by_role gives "${name}" no adapter`;
  const trains = report?.train ?? !untrainedUids.has(uid);
  return trains ? null : "the agent said so";
}

/** What an adapter is trained on, it has sampled. @throws AgentTrainerError (`ROLLOUT_FAILED`) */
function requireOwnAdapter(
  name: string,
  traces: readonly Trace[],
  { adapters }: TrainingMarks,
): void {
  if (adapters === undefined) return;
  const own = adapterOfRole(adapters, name);
  const other = traces.find(({ adapter }) => adapter !== undefined && adapter !== own);
  if (other === undefined) return;
  const nameOf = (adapter: string | null | undefined): string =>
    adapter === null ? "the base model" : `the adapter "${adapter}"`;
  throw new AgentTrainerError({
    code: "ROLLOUT_FAILED",
    message: `Calls of the role "${name}", which has ${nameOf(own)}, were sampled from ${nameOf(other.adapter)}: they came through an endpoint of another role.`,
    hint: `Make them in withTrajectory("${name}", ...) or with config.trajectory("${name}").baseUrl, and give a trajectory its role where it is first requested.`,
    fields: { name, adapter: other.adapter },
  });
}

/** Uid of the trajectory that a report refers to. */
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
  // A flow that requested no handle and reports one trajectory means all of its calls.
  const only = captured.find(({ sideCall }) => sideCall === undefined);
  if (isOnlyReport && context.handles.size === 0 && only !== undefined) return only.uid;
  return uid ?? trajectoryUid(context, name);
}

/**
 * One trajectory per captured one, in their order, then one without steps per report that matches no
 * call. A report matches by uid, else by name; its name, reward, output and metadata win. Reports
 * with different uids may share a name: several solvers in one role. With neither calls nor reports
 * there is one empty trajectory, so that a flow that never called the model is visible and counted
 * later.
 *
 * @throws AgentTrainerError (`ROLLOUT_FAILED`) when two reports refer to the same trajectory.
 */
export function buildTrajectories(
  captured: readonly CapturedTrajectory[],
  reports: readonly TrajectoryReport[],
  context: AttributionContext,
  training: TrainingMarks = trainAll,
): readonly Trajectory[] {
  const reportByUid = new Map<string, TrajectoryReport>();
  for (const report of reports) {
    const uid = resolveReport(report, captured, context, reports.length === 1);
    const other = reportByUid.get(uid);
    if (other !== undefined) throw reportedTwice(other, report);
    reportByUid.set(uid, report);
  }
  const trajectories = captured.map(({ uid, name, traces, sideCall }) => {
    const report = reportByUid.get(uid);
    reportByUid.delete(uid);
    const own = toTrajectory(uid, name, traces, report, training);
    if (sideCall !== undefined) return { ...own, untrained: `side call: ${sideCall}` };
    if (own.untrained === undefined) requireOwnAdapter(own.name, traces, training);
    return own;
  });
  for (const [uid, report] of reportByUid) {
    trajectories.push(toTrajectory(uid, report.name, [], report, training));
  }
  if (trajectories.length > 0) return trajectories;
  const { defaultName } = context;
  const uid = trajectoryUid(context, defaultName);
  return [toTrajectory(uid, defaultName, [], undefined, training)];
}

function reportedTwice(first: TrajectoryReport, second: TrajectoryReport): AgentTrainerError {
  const names =
    first.name === second.name ? `"${first.name}" twice` : `"${first.name}" and "${second.name}"`;
  return new AgentTrainerError({
    code: "ROLLOUT_FAILED",
    message: `The agent flow reported ${names}, which are the same trajectory.`,
    hint: "Give each its own endpoint with config.trajectory(...) and put its uid in the report.",
    fields: { names: [first.name, second.name] },
  });
}
