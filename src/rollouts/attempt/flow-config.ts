/** What one attempt passes to the flow, and its record of the trajectories that the flow requested. */
import type { AgentConfig, TrajectoryHandle, TrajectoryOptions } from "../../core/agent.ts";
import type { EnvironmentEpisode } from "../../core/environment.ts";
import { AgentTrainerError } from "../../core/errors.ts";
import type { RolloutSession, SessionOptions } from "../../core/session.ts";
import { defined } from "../../util/defined.ts";
import { scopedFetch, type ScopeUse } from "./trajectory-scope.ts";

/** A trajectory that the flow requested. */
interface KnownTrajectory {
  readonly name: string;
  readonly role: string;
  readonly train: boolean;
}

/** By uid. */
type KnownTrajectories = ReadonlyMap<string, KnownTrajectory>;

export interface FlowConfigInput {
  readonly session: RolloutSession;
  readonly options: SessionOptions;
  readonly isValidation: boolean;
  readonly signal: AbortSignal;
  readonly env: unknown;
  readonly environment: EnvironmentEpisode | undefined;
}

export interface FlowConfig {
  readonly config: AgentConfig;
  readonly known: KnownTrajectories;
  readonly scopes: ScopeUse;
}

export function makeFlowConfig(input: FlowConfigInput): FlowConfig {
  const { session, options, isValidation, signal, env, environment } = input;
  const known = new Map<string, KnownTrajectory>();
  const send: typeof fetch = session.fetch ?? ((url, init) => fetch(url, init));
  const trajectory = (name: string, wanted: TrajectoryOptions = {}): TrajectoryHandle => {
    const { uid } = session.trajectory(name);
    const own = merge(name, known.get(uid), wanted);
    known.set(uid, own);
    return session.trajectory(name, own.role);
  };
  const scopes: ScopeUse = {
    entered: new Set(),
    calls: 0,
    endpoint: {
      apiKey: session.apiKey,
      baseUrlOf: (name) => (name === null ? session.baseUrl : trajectory(name).baseUrl),
      ...defined({ fetch: session.fetch }),
    },
  };
  const config: AgentConfig = {
    baseUrl: session.baseUrl,
    apiKey: session.apiKey,
    model: session.model,
    sessionUid: session.uid,
    isValidation,
    samplingParams: { ...options.sampling },
    metadata: options.metadata ?? {},
    signal,
    env,
    ...defined({ environment }),
    fetch: scopedFetch(session.baseUrl, (name) => trajectory(name).baseUrl, scopes, send),
    trajectory,
  };
  return { config, known, scopes };
}

/** The first value holds; a different one later is an error. */
function merge(
  name: string,
  before: KnownTrajectory | undefined,
  { role, train }: TrajectoryOptions,
): KnownTrajectory {
  if (role === "") throw contradiction(name, 'the role "", which is empty');
  if (before === undefined) return { name, role: role ?? name, train: train ?? true };
  if (role !== undefined && role !== before.role && before.role !== name) {
    throw contradiction(name, `the roles "${before.role}" and "${role}"`);
  }
  return { name, role: role ?? before.role, train: train ?? before.train };
}

function contradiction(name: string, what: string): AgentTrainerError {
  return new AgentTrainerError({
    code: "ROLLOUT_FAILED",
    message: `config.trajectory("${name}") was given ${what}.`,
    hint: "Give a trajectory one role, where it is first requested.",
    fields: { name },
  });
}
