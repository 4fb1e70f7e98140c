/** Rollouts through the real gateway, answered by a scripted model. */
import type { AgentFlow, Evaluator } from "../../src/core/agent.ts";
import type { TaskHooks } from "../../src/core/hooks.ts";
import type { SideCallUse } from "../../src/core/side-call.ts";
import type { Episode } from "../../src/core/trajectory.ts";
import { createGateway, type GatewayOptions } from "../../src/gateway/index.ts";
import {
  defaultRolloutLimits,
  type FailurePolicy,
  type RolloutLimits,
} from "../../src/rollouts/rollout-request.ts";
import { flowProgram } from "../../src/rollouts/programs/function-programs.ts";
import type { RolloutProgram } from "../../src/rollouts/programs/program.ts";
import type { RolloutEvent } from "../../src/core/events.ts";
import type { ScorePolicy } from "../../src/rollouts/scoring/score.ts";
import { createRolloutRunner } from "../../src/rollouts/runner.ts";
import { createScriptedTarget, type Script } from "../../src/testing/index.ts";

export interface GatewayRun {
  readonly flow?: AgentFlow;
  readonly program?: RolloutProgram;
  /** @default always right; null for none */
  readonly evaluator?: Evaluator | null;
  readonly hooks?: TaskHooks;
  readonly limits?: Partial<RolloutLimits>;
  readonly failures?: FailurePolicy;
  readonly scores?: ScorePolicy;
  readonly isValidation?: boolean;
  readonly untrainedRoles?: readonly string[];
  /** @default "own" */
  readonly sideCallUse?: SideCallUse;
  readonly maxFailures?: number;
  /** @default says "ok" */
  readonly script?: Script;
  readonly contextLength?: number;
  /** @default a sampler that plays the script */
  readonly target?: GatewayOptions["target"];
  /** Milliseconds for one model call. @default 5_000 */
  readonly callTimeoutMs?: number;
  readonly maxTokens?: number;
  readonly signal?: AbortSignal;
  /** @default one task "a" */
  readonly tasks?: readonly string[];
}

export interface GatewayRunResult {
  readonly episodes: readonly Episode[];
  readonly episode: Episode;
  readonly events: readonly RolloutEvent[];
}

export async function runThroughGateway(run: GatewayRun): Promise<GatewayRunResult> {
  await using gateway = createGateway({
    target:
      run.target ??
      createScriptedTarget(
        run.script ?? (() => "ok"),
        run.contextLength === undefined ? {} : { contextLength: run.contextLength },
      ),
    model: "scripted",
    requestTimeoutMs: run.callTimeoutMs ?? 5_000,
  });
  await gateway.listen();
  const events: RolloutEvent[] = [];
  const runner = createRolloutRunner({
    host: gateway.sessions,
    program: run.program ?? flowProgram(run.flow ?? (() => "nothing")),
    evaluator: run.evaluator === undefined ? () => true : run.evaluator,
    ...(run.hooks === undefined ? {} : { hooks: run.hooks }),
    untrainedRoles: run.untrainedRoles ?? [],
    sideCallUse: run.sideCallUse ?? "own",
    ...(run.failures === undefined ? {} : { failures: run.failures }),
    ...(run.scores === undefined ? {} : { scores: run.scores }),
    limits: { ...defaultRolloutLimits, retryDelayMs: 1, retries: 0, ...run.limits },
  });
  const requests = (run.tasks ?? ["a"]).map((id, rolloutIndex) => ({
    task: { id, instruction: `Do ${id}.`, metadata: { gold: id } },
    rolloutIndex,
    episodeId: `1/${id}/${rolloutIndex}`,
    seed: 42 + rolloutIndex,
  }));
  const episodes = await runner.run(requests, {
    sampling: { temperature: 1, maxTokens: run.maxTokens ?? 64 },
    isValidation: run.isValidation ?? false,
    signal: run.signal ?? new AbortController().signal,
    ...(run.maxFailures === undefined ? {} : { maxFailures: run.maxFailures }),
    onEvent: (event) => events.push(event),
  });
  return { episodes, episode: episodes[0]!, events };
}

/** What the agent made fail is tried again, as `rollout.retry_agent_errors` asks for. */
export const retryingAgent: FailurePolicy = { reward: 0, retriesAgent: true };

/** A chat completion by plain fetch; the answer and the id of its response. */
export async function request(
  endpoint: { readonly baseUrl: string; readonly apiKey: string; readonly signal?: AbortSignal },
  content: string,
  use: typeof fetch = fetch,
): Promise<{ readonly id: string; readonly content: string }> {
  const response = await use(`${endpoint.baseUrl}/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${endpoint.apiKey}` },
    body: JSON.stringify({ model: "scripted", messages: [{ role: "user", content }] }),
    signal: endpoint.signal ?? null,
  });
  const body = (await response.json()) as {
    id: string;
    choices: { message: { content: string } }[];
    error?: { code: string; message: string };
  };
  if (body.error !== undefined) throw Object.assign(new Error(body.error.message), body);
  return { id: body.id, content: body.choices[0]!.message.content };
}

/** What each trajectory asked, by name. */
export function questions(episode: Episode): Record<string, string[]> {
  const requested: Record<string, string[]> = {};
  for (const { name, steps } of episode.trajectories) {
    requested[name] ??= [];
    requested[name].push(...steps.map(({ trace }) => trace.messages.at(-1)?.content as string));
  }
  return requested;
}
