/** The environment of a run: opened by the name that the option env gives, and put around the agent. */
import type { TrainConfig } from "../config/train-config.ts";
import type { AgentConfig, Evaluator } from "../core/agent.ts";
import type { EnvironmentSource } from "../core/environment.ts";
import { ConfigError } from "../core/errors.ts";
import type { TaskHooks } from "../core/hooks.ts";
import type { Task } from "../core/task.ts";
import type { EvalOutput } from "../core/trajectory.ts";
import { runEnvironmentAgent } from "../environments/agent-loop.ts";
import { environment, type EnvironmentOptions } from "../environments/environment.ts";
import { type EpisodeLimits, TrackedEpisode } from "../environments/episode/tracked-episode.ts";
import {
  type AgentSpec,
  type AnyAgentSpec,
  resolveAgent,
  type Rollouts,
} from "../rollouts/service/agent-spec.ts";
import { defined } from "../util/defined.ts";
import { loadAgent } from "./load-agent.ts";
import { loadExport } from "./load-module.ts";

/** An environment that a run uses; disposing of it closes what the run opened. */
export interface OpenEnvironment extends AsyncDisposable {
  readonly source: EnvironmentSource;
}

/** @throws ConfigError when the options name another environment than code passes. */
export function checkOneEnvironment(
  given: EnvironmentSource | string,
  { env }: Pick<TrainConfig, "env">,
): void {
  const name = typeof given === "string" ? given : given.name;
  if (env === null || env === name) return;
  throw new ConfigError({
    message: `env=${env} would be ignored: this program passes the environment ${name}.`,
    hint: "Remove the option env, or do not pass env in code.",
    fields: { option: "env", value: env, given: name },
  });
}

/**
 * What code passed, else what the option `env` names; null without one.
 * @throws ConfigError when it cannot be loaded.
 */
export async function openRunEnvironment(
  config: Pick<TrainConfig, "env" | "environment">,
  folder: string,
  given?: EnvironmentSource | string | null,
): Promise<OpenEnvironment | null> {
  if (typeof given === "object" && given !== null) {
    return { source: given, [Symbol.asyncDispose]: async () => {} };
  }
  const name = given ?? config.env;
  if (name === null) return null;
  const { python, callTimeoutS } = config.environment;
  const source = await openEnvironment(name, folder, {
    ...defined({ python: python ?? undefined }),
    callTimeoutMs: callTimeoutS * 1000,
  });
  return { source, [Symbol.asyncDispose]: async () => await source.close?.() };
}

/**
 * What the option `env` names: a protocol and an address, or the export of a module.
 * @throws ConfigError when it is neither.
 */
export async function openEnvironment(
  name: string,
  folder: string,
  options: EnvironmentOptions = {},
): Promise<EnvironmentSource> {
  // Two letters or more before the colon: `c:` is a drive.
  const isProtocol = /^[a-z][a-z-]+:/u.test(name);
  return isProtocol ? environment(name, options) : await loadSource(name, folder);
}

async function loadSource(spec: string, folder: string): Promise<EnvironmentSource> {
  const defaults = ["environment", "env", "default"];
  const value = await loadExport({ spec, folder, option: "env", defaults });
  const { tasks, open } = (value ?? {}) as Partial<Record<keyof EnvironmentSource, unknown>>;
  if (typeof tasks === "function" && typeof open === "function") return value as EnvironmentSource;
  throw new ConfigError({
    message: `env names ${spec}, which is no environment: it has no methods tasks and open.`,
    hint: "Export what defineEnvironment() or environment() returns, or an object with these methods.",
    fields: { option: "env", value: spec },
  });
}

/** What code may pass without an agent. */
export type AgentParts = Pick<AnyAgentSpec, "evaluator" | "hooks"> & {
  /** Whether a group evaluator scores what nothing else does. @default false */
  readonly isGroupScored?: boolean;
};

/** The loop that offers the tools to the model, scored by the environment or by the run's evaluator. */
async function defaultAgent(
  source: EnvironmentSource,
  config: TrainConfig,
  folder: string,
  given: AgentParts,
): Promise<AgentSpec> {
  const { evaluator: named } = config;
  const evaluator =
    given.evaluator ??
    (named === null
      ? undefined
      : ((await loadExport({
          spec: named,
          folder,
          option: "evaluator",
          defaults: ["evaluator", "default"],
        })) as Evaluator));
  const { isGroupScored = false } = given;
  if (evaluator === undefined && source.givesRewards === false && !isGroupScored) {
    throw new ConfigError({
      message: `${source.name} gives tools but no rewards, and evaluator is not set.`,
      hint: "Set evaluator=path#export, or to train without labels group_evaluator; in code, pass evaluator or groupEvaluator.",
      fields: { option: "evaluator", env: source.name },
    });
  }
  if (source.bringsAgent === true) {
    const play = async (_task: Task, { environment: episode, ...model }: AgentConfig) =>
      await (episode as TrackedEpisode).play(model, model.signal);
    const played = { agentFlow: play, ...defined({ evaluator, hooks: given.hooks }) };
    return inEnvironment(played, source, config);
  }
  const { maxTurns, systemPrompt } = config.environment;
  const run = (task: Task, { environment: episode, ...agent }: AgentConfig) =>
    runEnvironmentAgent(task, agent, episode as TrackedEpisode, { maxTurns, systemPrompt });
  if (evaluator === undefined && source.givesRewards === false) {
    return inEnvironment(
      { agentFlow: run, ...defined({ hooks: given.hooks }) },
      source,
      config,
      true,
    );
  }
  const spec = evaluator === undefined ? { agentRunFunc: run } : { agentFlow: run, evaluator };
  return inEnvironment({ ...spec, ...defined({ hooks: given.hooks }) }, source, config);
}

/** The rollouts of a run: its agent, from code or from the options, in its environment, if it has one. */
export async function agentIn(
  passed: AgentSpec | null,
  config: TrainConfig,
  folder: string,
  source: EnvironmentSource | null,
  given: AgentParts = {},
): Promise<Rollouts> {
  const { isGroupScored = false } = given;
  if (source !== null && passed === null && config.agent === null) {
    return resolveAgent(await defaultAgent(source, config, folder, given), isGroupScored);
  }
  if (source?.bringsAgent === true) {
    throw new ConfigError({
      message: `${source.name} plays its episodes with its own agent, so another agent would be ignored.`,
      hint: "Remove agent (in code: the agent that is passed).",
      fields: { option: "agent", env: source.name },
    });
  }
  const isNamed = passed === null && (source === null || config.agent !== null);
  const spec = isNamed ? await loadAgent(config, folder, source !== null || isGroupScored) : passed;
  return resolveAgent(
    source === null
      ? (spec as AgentSpec)
      : inEnvironment(spec as AnyAgentSpec, source, config, isGroupScored),
    isGroupScored,
  );
}

/**
 * The agent in its environment: each attempt gets an episode, as `config.environment`, and its rewards
 * unless the agent has its own evaluator.
 */
function inEnvironment(
  spec: AnyAgentSpec,
  source: EnvironmentSource,
  { environment: options }: Pick<TrainConfig, "environment">,
  isGroupScored = false,
): AgentSpec {
  const limits: EpisodeLimits = {
    maxResultChars: options.maxResultChars,
    callTimeoutMs: options.callTimeoutS * 1000,
    reward: options.reward,
  };
  const scoresItself = spec.agentRunFunc !== undefined;
  const isScoredLater = isGroupScored && source.givesRewards === false;
  const hooks: TaskHooks = {
    async setUp(task, info) {
      const own = await spec.hooks?.setUp(task, info);
      const episode = await openEpisode(source, task, info.signal, limits).catch(
        async (error: unknown) => {
          await own?.tearDown?.();
          throw error;
        },
      );
      // The setup's own signal has a deadline; tests of an environment run until the rollout is left.
      const left = new AbortController();
      const isScored = scoresItself || isScoredLater || spec.evaluator !== undefined;
      return {
        ...(isScored ? {} : { evaluator: async () => await scoreOf(episode, left.signal) }),
        ...own,
        environment: episode,
        tearDown: async () => {
          try {
            await own?.tearDown?.();
          } finally {
            left.abort(new Error("The rollout has ended."));
            await episode.close();
          }
        },
      };
    },
  };
  return { ...spec, hooks } as AgentSpec;
}

async function scoreOf(episode: TrackedEpisode, signal: AbortSignal): Promise<EvalOutput> {
  await episode.finish(signal);
  return episode.score();
}

async function openEpisode(
  source: EnvironmentSource,
  task: Task,
  signal: AbortSignal,
  limits: EpisodeLimits,
): Promise<TrackedEpisode> {
  return new TrackedEpisode(await source.open(task, { signal }), limits);
}
