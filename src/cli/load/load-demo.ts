/** The demo agent in `examples/shop/`: its sources when run from `src`, its compiled copy in `dist`. */
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { AgentFlow, Evaluator } from "../../core/agent.ts";
import { AgentTrainerError } from "../../core/errors.ts";
import type { Task } from "../../core/task.ts";
import { missingPackage } from "../../launch/missing-package.ts";

export interface Demo {
  readonly agent: AgentFlow;
  readonly evaluator: Evaluator;
  readonly trainTasks: readonly Task[];
  readonly valTasks: readonly Task[];
  /** Path of its YAML file. */
  readonly configFile: string;
}

type ModuleExports = Readonly<Record<string, unknown>>;

async function importFirst(candidates: readonly string[]): Promise<ModuleExports> {
  const found = candidates
    .map((candidate) => new URL(candidate, import.meta.url))
    .find((url) => existsSync(fileURLToPath(url)));
  if (found === undefined) {
    throw new AgentTrainerError({
      code: "INTERNAL",
      message: `The demo is missing from this installation (${candidates.join(", ")}).`,
      hint: "Install agent-trainer again, or run npm run build in a checkout.",
    });
  }
  try {
    return (await import(found.href)) as ModuleExports;
  } catch (error) {
    throw missingPackage(error) ?? error;
  }
}

/** Loads the demo's parts. */
export async function loadDemo(): Promise<Demo> {
  const load = (name: string): Promise<ModuleExports> =>
    importFirst([`../../examples/shop/${name}.js`, `../../../examples/shop/${name}.ts`]);
  const [agent, evaluator, tasks] = [
    await load("agent"),
    await load("evaluator"),
    await load("tasks"),
  ];
  return {
    agent: agent["agent"] as AgentFlow,
    evaluator: evaluator["evaluator"] as Evaluator,
    trainTasks: tasks["trainTasks"] as readonly Task[],
    valTasks: tasks["valTasks"] as readonly Task[],
    configFile: fileURLToPath(new URL("../../../examples/shop/shop.yaml", import.meta.url)),
  };
}
