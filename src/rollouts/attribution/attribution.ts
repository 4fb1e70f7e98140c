/**
 * Which captured call belongs to which trajectory: by the endpoint of the call, or by the id of its
 * response, never by position or time.
 */
import type { Trace } from "../../core/trace.ts";
import { excludedRules, type SideCallRule, type SideCallUse } from "../../core/side-call.ts";
import { type ChoiceEvidence, selectContinuedChoices } from "./choices.ts";
import { messageText } from "../../core/message-text.ts";

/**
 * The same calls, those that a rule recognizes with its name in `sideCall`; the first rule that matches names a
 * call. A guess never takes the call whose text became an output, and none where guesses would take all calls.
 * @param outputs what the rollout returned as text
 */
function markSideCalls(
  traces: readonly Trace[],
  rules: readonly SideCallRule[],
  outputs: readonly string[] = [],
): readonly Trace[] {
  const own = traces.filter((trace) => trace.trajectoryUid === null);
  const given = new Set(outputs.map((output) => output.trim()).filter((output) => output !== ""));
  const found = new Map<Trace, SideCallRule>();
  for (const call of own) {
    const rule = rules.find(({ matches }) => matches(call, own));
    if (rule === undefined) continue;
    if (rule.isGuess === true && given.has(messageText(call.response.content).trim())) continue;
    found.set(call, rule);
  }
  const isAll = own.every((call) => found.has(call));
  return traces.map((trace) => {
    const rule = found.get(trace);
    return rule === undefined || (isAll && rule.isGuess === true)
      ? trace
      : { ...trace, sideCall: rule.name };
  });
}

export interface AttributionContext {
  readonly sessionUid: string;
  /** Name of the trajectory of calls that no handle claims. */
  readonly defaultName: string;
  /** Trajectory uid → role, for every handle that the flow requested. */
  readonly handles: ReadonlyMap<string, string>;
  /** Response id → trajectory uid, for calls without a handle that the flow's reports name. */
  readonly claims?: ReadonlyMap<string, string>;
  /** Which choices of calls with n > 1 the agent used, as far as it reported them. @default none */
  readonly evidence?: ChoiceEvidence;
  /** Rules by which calls of no handle are side calls. @default [] */
  readonly sideCalls?: readonly SideCallRule[];
  /** Those that are not excluded stay in the trajectory of the task. @default "own" */
  readonly sideCallUse?: SideCallUse;
  /** Keeps calls that cannot be trained on, for rollouts that nothing is trained on. @default false */
  readonly keepsUntrainable?: boolean;
}

/** The calls of one trajectory. */
export interface CapturedTrajectory {
  readonly uid: string;
  readonly name: string;
  /** By order of dispatch; may be empty. Without `keepsUntrainable`, those that can be trained on. */
  readonly traces: readonly Trace[];
  /** The rule by which they are calls next to the task, kept out of training. */
  readonly sideCall?: string;
}

export interface Attribution {
  /** By first call; trajectories without any call are not included. */
  readonly trajectories: readonly CapturedTrajectory[];
  /** Calls, counting the choices of one call once. */
  readonly calls: number;
  /** Traces that the gateway marked untrainable; in no trajectory without `keepsUntrainable`. */
  readonly untrainable: number;
  /** Traces of another session, or of a trajectory that the flow never requested. */
  readonly unattributed: number;
  /**
   * Choices of calls with n > 1 that are not trained on, because the agent did not use them or it is
   * unknown.
   */
  readonly unusedChoices: number;
  /** Calls with n > 1 for which it is unknown which choice the agent used. */
  readonly undecidedChoices: number;
}

/** Uid of a trajectory that has no handle. */
export function trajectoryUid(context: AttributionContext, name: string): string {
  for (const [uid, known] of context.handles) if (known === name) return uid;
  return `${context.sessionUid}/${name}`;
}

const sideUid = (uid: string, rule: string): string => `${uid}/side:${rule}`;

export function attributeTraces(
  traces: readonly Trace[],
  context: AttributionContext,
): Attribution {
  const captured = traces
    .filter((trace) => trace.sessionUid === context.sessionUid)
    .sort((a, b) => a.sequence - b.sequence || a.choice - b.choice);
  const { sideCalls = [], sideCallUse = "own", evidence } = context;
  const ordered = markSideCalls(captured, sideCalls, evidence?.outputs);
  const { chosen, calls, undecided } = selectContinuedChoices(ordered, evidence);

  const excluded = excludedRules(sideCallUse, sideCalls);
  const defaultUid = trajectoryUid(context, context.defaultName);
  const claimed = new Set(context.claims?.values());
  const byUid = new Map<string, Trace[]>();
  const sides = new Map<string, string>();
  let untrainable = 0;
  let unattributed = traces.length - ordered.length;
  for (const trace of chosen) {
    const { sideCall } = trace;
    const reported = trace.trajectoryUid ?? context.claims?.get(trace.responseId);
    // What a report names is no side call.
    const isExcluded = reported === undefined && excluded.has(sideCall ?? "");
    const side = isExcluded ? sideUid(defaultUid, sideCall!) : null;
    if (side !== null) sides.set(side, sideCall!);
    const uid = side ?? reported ?? defaultUid;
    if (side === null && uid !== defaultUid && !context.handles.has(uid) && !claimed.has(uid)) {
      unattributed++;
      continue;
    }
    const own = byUid.get(uid) ?? [];
    byUid.set(uid, own);
    const isTrainable = trace.untrainable === undefined;
    if (!isTrainable) untrainable++;
    if (isTrainable || context.keepsUntrainable === true) own.push(trace);
  }
  return {
    trajectories: Array.from(byUid, ([uid, own]) => ({
      uid,
      name: sides.has(uid)
        ? `side:${sides.get(uid)}`
        : (context.handles.get(uid) ?? context.defaultName),
      traces: own,
      ...(sides.has(uid) ? { sideCall: sides.get(uid)! } : {}),
    })),
    calls,
    untrainable,
    unattributed,
    unusedChoices: ordered.length - chosen.length,
    undecidedChoices: undecided,
  };
}
