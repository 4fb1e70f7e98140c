/** Which reported trajectory a call belongs to, where the flow specifies it by the id of the response. */
import { AgentTrainerError } from "../../core/errors.ts";
import type { TrajectoryReport } from "../../core/report.ts";
import type { Trace } from "../../core/trace.ts";
import { trajectoryUid, type AttributionContext } from "./attribution.ts";

export interface ReportMatches {
  /** The reports; those that named calls now have a uid. */
  readonly reports: readonly TrajectoryReport[];
  /** Response id → uid of the trajectory; only for calls through the session's own URL. */
  readonly byResponse: ReadonlyMap<string, string>;
  /** Response id → choices of it that reports name. */
  readonly choices: ReadonlyMap<string, ReadonlySet<number>>;
}

/**
 * @throws AgentTrainerError (`ROLLOUT_FAILED`) when a report names a call or choice that was not
 * captured, or a call that belongs to another trajectory.
 */
export function matchReports(
  reports: readonly TrajectoryReport[],
  traces: readonly Trace[],
  context: AttributionContext,
): ReportMatches {
  const endpointOf = new Map(traces.map((trace) => [trace.responseId, trace.trajectoryUid]));
  const byResponse = new Map<string, string>();
  const resolved = reports.map((report, index) => {
    const named = [...new Set((report.steps ?? []).map((step) => step.responseId))];
    if (named.length === 0) return report;
    const endpoints = new Set(named.map((id) => endpointFor(report, id, endpointOf)));
    if (endpoints.size > 1) throw wrongClaim(report, "names calls of several trajectories");
    const [endpoint = null] = endpoints;
    const uid = endpoint ?? report.uid ?? ownUid(report, index, reports, context);
    if (report.uid !== undefined && report.uid !== uid) {
      throw wrongClaim(report, `has the uid "${report.uid}", but names calls of "${uid}"`);
    }
    if (endpoint === null) {
      for (const id of named) {
        if (byResponse.has(id)) throw wrongClaim(report, `names "${id}", as another report does`);
        byResponse.set(id, uid);
      }
    }
    return { ...report, uid };
  });
  return { reports: resolved, byResponse, choices: namedChoices(reports, traces) };
}

function namedChoices(
  reports: readonly TrajectoryReport[],
  traces: readonly Trace[],
): Map<string, Set<number>> {
  const named = new Map<string, Set<number>>();
  for (const report of reports) {
    for (const { responseId, choice } of report.steps ?? []) {
      if (choice === undefined) continue;
      const captured = traces.filter((trace) => trace.responseId === responseId);
      if (!captured.some((trace) => trace.choice === choice))
        throw wrongClaim(
          report,
          `names choice ${choice} of the response "${responseId}", which has ${captured.length} (from 0)`,
        );
      const own = named.get(responseId) ?? new Set();
      named.set(responseId, own.add(choice));
    }
  }
  return named;
}

function endpointFor(
  report: TrajectoryReport,
  responseId: string,
  endpointOf: ReadonlyMap<string, string | null>,
): string | null {
  const endpoint = endpointOf.get(responseId);
  if (endpoint !== undefined) return endpoint;
  throw wrongClaim(
    report,
    `names the response "${responseId}", which no call of this rollout returned`,
  );
}

/** Several reports of one role are several trajectories: three solvers in one rollout. */
function ownUid(
  { name }: TrajectoryReport,
  index: number,
  reports: readonly TrajectoryReport[],
  context: AttributionContext,
): string {
  const isAlone = reports.filter((other) => other.name === name).length === 1;
  return isAlone ? trajectoryUid(context, name) : `${context.sessionUid}/${name}/${index}`;
}

function wrongClaim(report: TrajectoryReport, what: string): AgentTrainerError {
  return new AgentTrainerError({
    code: "ROLLOUT_FAILED",
    message: `The trajectory report "${report.name}" ${what}.`,
    hint: "In steps, give each call's own response id (completion.id) to one report.",
    fields: { name: report.name },
  });
}
