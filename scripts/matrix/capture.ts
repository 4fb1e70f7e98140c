/** Calls that a framework made under load, and those that were captured. */
import { httpAgent } from "../../src/agents/index.ts";
import { createGateway } from "../../src/gateway/index.ts";
import { flowProgram } from "../../src/rollout/programs/function-programs.ts";
import { defaultRolloutLimits } from "../../src/rollout/rollout-request.ts";
import { createRolloutRunner } from "../../src/rollout/runner.ts";
import { createScriptedTarget } from "../../src/testing/index.ts";

const concurrency = 16;

export interface Capture {
  readonly calls: number;
  readonly captured: number;
  readonly misattributed: number;
  /** What the first failed rollout says. */
  readonly error: string | null;
}

/** `tool`: what the model calls. */
function script(tool: string): (call: { readonly text: string }) => string {
  const call = `<tool_call>\n${JSON.stringify({ name: tool, arguments: { item: "lamp" } })}\n</tool_call>`;
  return ({ text }) => (text.includes("PRICE-") ? "It costs what the tool said." : call);
}

/** Rollouts of two calls each, 16 at a time, in one process of the framework. */
export async function measureCapture(
  url: string,
  rollouts: number,
  tool: string,
): Promise<Capture> {
  const made = async (): Promise<number> => {
    const response = await fetch(new URL("/calls", url));
    return ((await response.json()) as { calls: number }).calls;
  };
  await using gateway = createGateway({
    target: createScriptedTarget(script(tool), { keepRequests: false, contextLength: 1_000_000 }),
    model: "scripted",
  });
  await gateway.listen();
  const runner = createRolloutRunner({
    host: gateway.sessions,
    program: flowProgram(httpAgent({ url })),
    evaluator: () => true,
    untrainedRoles: [],
    limits: { ...defaultRolloutLimits, concurrency, timeoutMs: 120_000, retries: 0 },
  });
  const before = await made();
  const requests = Array.from({ length: rollouts }, (_, i) => ({
    task: {
      id: `[task-${i}]`,
      instruction: `[task-${i}] How much is a lamp?`,
      metadata: { item: "lamp", price: `PRICE-${i}` },
    },
    rolloutIndex: 0,
    episodeId: `1/${i}/0`,
    seed: i,
  }));
  const episodes = await runner.run(requests, {
    sampling: { temperature: 1, maxTokens: 4096 },
    isValidation: false,
    signal: new AbortController().signal,
    onEvent: () => {},
  });
  const steps = episodes.flatMap(({ task, trajectories }) =>
    trajectories.flatMap((one) => one.steps.map(({ trace }) => ({ id: task.id, trace }))),
  );
  return {
    calls: (await made()) - before,
    captured: steps.length,
    misattributed: steps.filter(({ id, trace }) => !JSON.stringify(trace.messages).includes(id))
      .length,
    error:
      episodes.find(({ error }) => error !== null && error !== undefined)?.error?.message ?? null,
  };
}
