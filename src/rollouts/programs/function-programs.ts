/** Functions as programs: flows, which an evaluator scores, and functions that score themselves. */
import type { AgentFlow, AgentRunFunction } from "../../core/agent.ts";
import { readFlowResult } from "./flow-result.ts";
import type { RolloutProgram } from "./program.ts";
import { readRunResult } from "./run-result.ts";

/** An agent flow as a program. */
export function flowProgram<Metadata>(flow: AgentFlow<Metadata>): RolloutProgram<Metadata> {
  const name = typeof flow === "function" ? undefined : flow.name;
  return {
    what: "The agent flow",
    ...(name === undefined || name === "" ? {} : { name }),
    ...(typeof flow === "function" || flow.sideCalls === undefined
      ? {}
      : { sideCalls: flow.sideCalls }),
    ...(typeof flow === "function" || flow[Symbol.asyncDispose] === undefined
      ? {}
      : { dispose: () => flow[Symbol.asyncDispose]!() }),
    run: async (task, config) =>
      readFlowResult(
        await (typeof flow === "function" ? flow(task, config) : flow.run(task, config)),
        name,
      ),
  };
}

/** A function that scores itself as a program. */
export function runFunctionProgram<Metadata>(
  run: AgentRunFunction<Metadata>,
): RolloutProgram<Metadata> {
  return {
    what: "agentRunFunc",
    scoresItself: true,
    run: async (task, config) => readRunResult(await run(task, config), task.id),
  };
}
