/**
 * Loads what the options `agent`, `agent_command` and `evaluator` name: a flow, a workflow class, an object
 * with the options of any kind of agent, or a command.
 */
import type { AgentFlow, Evaluator, GroupEvaluator } from "../core/agent.ts";
import { commandAgent } from "../rollouts/agents/command/command-agent.ts";
import { httpAgent } from "../rollouts/agents/http/http-agent.ts";
import { ConfigError } from "../core/errors.ts";
import { requireFunction } from "../rollouts/programs/callable.ts";
import { givenOf, defined } from "../util/defined.ts";
import type { TrainConfig } from "../config/train-config.ts";
import { agentOptions, type AgentSpec } from "../rollouts/service/agent-spec.ts";
import type { WorkflowClass } from "../rollouts/workflow/workflow.ts";
import { loadExport } from "./load-module.ts";

/**
 * @param inCode what code passes in its place.
 * @throws ConfigError when the option is null.
 */
export function requireOption(value: string | null, option: string, inCode: string): string {
  if (value !== null) return value;
  throw new ConfigError({
    message: `${option} is not set, but training needs it.`,
    hint: `Set ${option} in the configuration file, or with ${option}=path#export. In code, pass ${inCode}.`,
    fields: { option },
  });
}

/**
 * For a trainer that got no agent in code.
 * @throws ConfigError when the configuration names none, or when code passed parts of one.
 */
export function requireAgent(
  { agent, agentCommand }: Pick<TrainConfig, "agent" | "agentCommand">,
  given: object,
): void {
  if (agentCommand.run === null) requireOption(agent, "agent", agentOptions.join(" or "));
  else if (agent !== null) {
    throw new ConfigError({
      message: `agent is ${agent}, but agent_command.run names an agent, too.`,
      hint: "Remove one of them: ~agent on the command line resets it.",
      fields: { option: "agent", value: agent },
    });
  }
  const parts = ["evaluator", "hooks"].filter((part) => part in given);
  if (parts.length === 0) return;
  throw new ConfigError({
    message: `AgentTrainer was given ${parts.join(" and ")} without an agent, which the option agent names.`,
    hint: "Name the evaluator with the option evaluator, or pass the agent in code as well.",
    fields: { parts, agent },
  });
}

/** What a function returns cannot be known in advance, so it is a flow unless its export says otherwise. */
function unscored(agent: string | null): ConfigError {
  return new ConfigError({
    message: `evaluator is not set, and the agent ${agent} is a flow, which needs an evaluator to score it.`,
    hint: "Set evaluator=path#export, or to train without labels group_evaluator. For a function that returns its own rewards, write: export const agent = { agentRunFunc: yourFunction }.",
    fields: { option: "evaluator", agent },
  });
}

function isWorkflowClass(value: unknown): value is WorkflowClass {
  if (typeof value !== "function") return false;
  const prototype = value.prototype as { readonly run?: unknown } | undefined;
  return typeof prototype?.run === "function";
}

/** Null for a flow, which may also be an object. */
function partsOf(value: unknown): AgentSpec | null {
  if (isWorkflowClass(value)) return { workflowClass: value };
  if (typeof value !== "object" || value === null) return null;
  if ("run" in value && typeof value.run === "function") return null;
  return agentOptions.some((name) => name in value) ? (givenOf(value) as AgentSpec) : null;
}

function agentOfCommand(options: TrainConfig["agentCommand"], folder: string): AgentFlow {
  const { run, serves, cwd, output, memoryMb, ...others } = options;
  const { maxOutputBytes, passEnv } = others;
  const common = { command: run!, folder, maxOutputBytes, passEnv };
  if (serves) return httpAgent(common);
  return commandAgent({ ...common, cwd, output, ...defined({ memoryMb: memoryMb ?? undefined }) });
}

/**
 * Paths are relative to `folder`.
 * @param isScored whether something else scores a flow without an evaluator: an environment, or a group
 * evaluator.
 * @throws ConfigError when something is not set, cannot be loaded, or is given twice.
 */
export async function loadAgent(
  { agent, agentCommand, evaluator }: Pick<TrainConfig, "agent" | "agentCommand" | "evaluator">,
  folder: string,
  isScored = false,
): Promise<AgentSpec> {
  const load = (spec: string, option: "agent" | "evaluator"): Promise<unknown> =>
    loadExport({ spec, folder, option, defaults: [option, "default"] });
  if (agentCommand.run !== null) {
    const agentFlow = agentOfCommand(agentCommand, folder);
    if (evaluator === null && isScored) return { agentFlow } as AgentSpec;
    if (evaluator === null) throw unscored([agentCommand.run].flat().join(" "));
    const own = await load(evaluator, "evaluator");
    return { agentFlow, evaluator: own as Evaluator };
  }
  const value = await load(requireOption(agent, "agent", agentOptions.join(" or ")), "agent");
  const parts = partsOf(value);
  if (parts === null) {
    if (evaluator === null && isScored) return { agentFlow: value as AgentFlow } as AgentSpec;
    if (evaluator === null) throw unscored(agent);
    const own = await load(evaluator, "evaluator");
    return { agentFlow: value as AgentFlow, evaluator: own as Evaluator };
  }
  if (evaluator === null) return parts;
  if (parts.evaluator !== undefined) {
    throw new ConfigError({
      message: `evaluator is ${evaluator}, but ${agent} already defines an evaluator.`,
      hint: "Remove one of them.",
      fields: { option: "evaluator", value: evaluator },
    });
  }
  return { ...parts, evaluator: (await load(evaluator, "evaluator")) as Evaluator } as AgentSpec;
}

/** What the option `group_evaluator` names. @throws ConfigError for something else than a function. */
export async function loadGroupEvaluator(
  { groupEvaluator }: Pick<TrainConfig, "groupEvaluator">,
  folder: string,
): Promise<GroupEvaluator | undefined> {
  if (groupEvaluator === null) return undefined;
  const loaded = await loadExport({
    spec: groupEvaluator,
    folder,
    option: "group_evaluator",
    defaults: ["groupEvaluator", "default"],
  });
  requireFunction("group_evaluator", loaded);
  return loaded as GroupEvaluator;
}
