/** The demo's agent where tools take their time: mostly little, sometimes very much. */
import type { AgentConfig } from "../../src/core/agent.ts";
import type { Task } from "../../src/core/task.ts";
import { loadDemo } from "../../src/cli/load/load-demo.ts";
import { createRandom, deriveSeed } from "../../src/util/random.ts";

/** Seconds, Pareto distributed: half of them below 0.51, one in 121 at the longest. */
export const toolTime = { shortestS: 0.3, shape: 1.3, maxSeconds: 12 } as const;

/** Seconds that the tools of one rollout take; `uniform` in [0, 1). */
export function sampleToolTime(uniform: number): number {
  const { shortestS, shape, maxSeconds } = toolTime;
  return Math.min(maxSeconds, shortestS * (1 - uniform) ** (-1 / shape));
}

/** An agent that waits before its answer as long as its session says, in every mode alike. */
export async function slowAgent(): Promise<(task: Task, config: AgentConfig) => Promise<unknown>> {
  const { agent } = await loadDemo();
  const run = typeof agent === "function" ? agent : agent.run.bind(agent);
  return async (task, config) => {
    const answer = await run(task, config);
    // Validations show the policy, not the clock.
    if (config.isValidation) return answer;
    const seconds = sampleToolTime(createRandom(deriveSeed(0, config.sessionUid))());
    await new Promise((resolve) => setTimeout(resolve, seconds * 1000));
    return answer;
  };
}
