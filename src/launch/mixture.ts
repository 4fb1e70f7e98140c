/** A run on several sources: their environments, their tasks, and for each task the agent and evaluator of its source. */
import type { DataSource, TrainConfig } from "../config/train-config.ts";
import type { Evaluator } from "../core/agent.ts";
import type { EnvironmentSource } from "../core/environment.ts";
import { ConfigError } from "../core/errors.ts";
import type { TaskHooks } from "../core/hooks.ts";
import type { Task } from "../core/task.ts";
import type { AgentSpec, Rollouts } from "../rollouts/service/agent-spec.ts";
import { loadExport } from "./load-module.ts";
import {
  type AgentParts,
  agentIn,
  type OpenEnvironment,
  openRunEnvironment,
} from "./run-environment.ts";

/** One of `dataset.sources`, its environment opened. */
export interface OpenSource {
  readonly options: DataSource;
  readonly environment: EnvironmentSource | null;
}

/** Disposing of it closes the environments. */
export interface OpenSources extends AsyncDisposable {
  readonly sources: readonly OpenSource[];
}

/** @throws ConfigError for an environment that cannot be loaded. */
export async function openSources(config: TrainConfig, folder: string): Promise<OpenSources> {
  const opened: OpenEnvironment[] = [];
  const close = async (): Promise<void> => {
    for (const one of opened.toReversed()) await one[Symbol.asyncDispose]();
  };
  try {
    const sources: OpenSource[] = [];
    for (const options of config.dataset.sources) {
      const env = await openRunEnvironment({ ...config, env: options.env ?? null }, folder);
      if (env !== null) opened.push(env);
      sources.push({ options, environment: env?.source ?? null });
    }
    return { sources, [Symbol.asyncDispose]: close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** The source that a task says it is from. @throws ConfigError where it is none of them. */
function sourceOf<T>(byName: ReadonlyMap<string, T>, { id, metadata }: Task): T {
  const name = metadata["data_source"];
  const found = typeof name === "string" ? byName.get(name) : undefined;
  if (found !== undefined) return found;
  throw new ConfigError({
    message: `Task "${id}" is of the source ${JSON.stringify(name)}, which is none of dataset.sources.`,
    fields: { taskId: id, known: [...byName.keys()] },
  });
}

/** The task as its environment gave it, which opens it again. */
function withoutSource({ id, instruction, metadata }: Task): Task {
  const { data_source: _, ...own } = metadata;
  return { id: id.slice(id.indexOf("/") + 1), instruction, metadata: own };
}

/** Each source's agent: that of the run, in the source's environment, with the source's evaluator. */
export async function mixedAgent(
  passed: AgentSpec | null,
  config: TrainConfig,
  folder: string,
  sources: readonly OpenSource[],
  given: AgentParts,
): Promise<Rollouts> {
  const byName = new Map<string, SourceRollouts>();
  for (const { options, environment } of sources) {
    const spec = options.evaluator ?? null;
    const defaults = ["evaluator", "default"];
    const option = `dataset.sources.${options.name}.evaluator`;
    const own =
      spec === null ? null : ((await loadExport({ spec, folder, option, defaults })) as Evaluator);
    const agent = passed === null || own === null ? passed : { ...passed, evaluator: own };
    const named = { ...config, evaluator: spec ?? config.evaluator };
    const parts = own === null ? given : { ...given, evaluator: own };
    const of = await agentIn(agent as AgentSpec | null, named, folder, environment, parts);
    byName.set(options.name, { ...of, inEnvironment: environment !== null });
  }
  return joined(byName);
}

interface SourceRollouts extends Rollouts {
  readonly inEnvironment: boolean;
}

function joined(byName: ReadonlyMap<string, SourceRollouts>): Rollouts {
  const all = [...byName.values()];
  const { program: first } = all[0]!;
  const hooks: TaskHooks = {
    async setUp(task, info) {
      const { hooks: own, evaluator, inEnvironment } = sourceOf(byName, task);
      const setup = (await own?.setUp(inEnvironment ? withoutSource(task) : task, info)) ?? {};
      return evaluator === null ? setup : { evaluator, ...setup };
    },
  };
  return {
    hooks,
    evaluator: null,
    program: {
      ...first,
      scoresItself: all.every(({ program }) => program.scoresItself === true),
      limitsTurns: all.every(({ program }) => program.limitsTurns === true),
      sideCalls: [...new Set(all.flatMap(({ program }) => program.sideCalls ?? []))],
      run: (task, config) => sourceOf(byName, task).program.run(task, config),
      async dispose() {
        for (const { program } of all) await program.dispose?.();
      },
    },
  };
}
