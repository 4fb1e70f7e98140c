/** Calls that an agent made under load, and those that were captured. */
import { describeFailedCalls } from "../../src/core/trajectory.ts";
import type { AgentFlowObject } from "../../src/core/agent.ts";
import { createGateway } from "../../src/gateway/index.ts";
import { flowProgram } from "../../src/rollouts/programs/function-programs.ts";
import { defaultRolloutLimits } from "../../src/rollouts/rollout-request.ts";
import { createRolloutRunner } from "../../src/rollouts/runner.ts";
import { createScriptedTarget } from "../../src/testing/index.ts";
import { startCallCounter } from "./call-counter.ts";
import { dialects, followUp, respond, type Dialect, type ToolCallText } from "./script.ts";

const concurrency = 16;

export interface Capture {
  readonly calls: number;
  readonly captured: number;
  readonly misattributed: number;
  /** Rows per rollout: calls that are trained on and continue no other call of theirs, token by token. */
  readonly rows: number;
  /** What the first failed rollout says. */
  readonly error: string | null;
}

/** What is run, and what the model says. */
export interface Load {
  readonly flow: AgentFlowObject;
  readonly rollouts: number;
  /** Calls of its tool that the model makes in a rollout before it answers. @default 1 */
  readonly toolCalls?: number;
  /** The model's call number `i` of a rollout; its result is to have `PRICE-` in it. @default that of the shop */
  readonly call?: (i: number) => ToolCallText;
  /** @default that of tool calls */
  readonly dialect?: Dialect;
  /** Model calls that were made so far. @default what arrives between the agent and the gateway */
  readonly made?: () => Promise<number>;
  /** Limit of a rollout. @default 120_000 */
  readonly timeoutMs?: number;
}

const shopCall = { name: "get_price", arguments: { item: "lamp" } };

/** The calls of a framework in `examples/frameworks/serve.mjs`, counted at its sockets. */
export async function madeBy(url: string): Promise<number> {
  const response = await fetch(new URL("/calls", url));
  return ((await response.json()) as { calls: number }).calls;
}

/** Rollouts of `toolCalls` + 1 calls each, 16 at a time; two more of agents that take a second question. */
export async function measureCapture(load: Load): Promise<Capture> {
  const { flow, rollouts, toolCalls = 1, call = () => shopCall, timeoutMs = 120_000 } = load;
  const { dialect = dialects.native } = load;
  await using counter = await startCallCounter();
  const made = load.made ?? (async () => counter.calls);
  const script = ({ text }: { readonly text: string }): string => {
    // A side call, such as one for a title.
    if (!text.startsWith("tools\n") && dialect.extract === undefined) return "Prices";
    return respond(text, toolCalls, call, dialect);
  };
  await using gateway = createGateway({
    target: createScriptedTarget(script, { keepRequests: false, contextLength: 1_000_000 }),
    model: "scripted",
  });
  const { port } = await gateway.listen(
    load.made === undefined ? { publicUrl: counter.url } : undefined,
  );
  counter.target = `http://127.0.0.1:${port}`;
  const runner = createRolloutRunner({
    host: gateway.sessions,
    program: flowProgram(flow),
    evaluator: () => true,
    untrainedRoles: [],
    limits: { ...defaultRolloutLimits, concurrency, timeoutMs, retries: 0 },
  });
  const before = await made();
  const requests = Array.from({ length: rollouts }, (_, i) => ({
    task: {
      id: `[task-${i}]`,
      instruction: `[task-${i}] How much is a lamp?`,
      metadata: { item: "lamp", price: `PRICE-${i}`, followUps: [`[task-${i}] ${followUp}`] },
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
    trajectories.flatMap(({ steps: calls, untrained }) =>
      calls.map(({ trace }) => ({ id: task.id, trace, isTrained: untrained === undefined })),
    ),
  );
  return {
    calls: (await made()) - before,
    captured: steps.length,
    misattributed: steps.filter(({ id, trace }) => !JSON.stringify(trace.messages).includes(id))
      .length,
    rows:
      steps.filter(({ trace, isTrained }) => isTrained && trace.parentId === null).length /
      rollouts,
    error:
      episodes.find(({ error }) => error !== null && error !== undefined)?.error?.message ??
      describeFailedCalls(episodes.find(({ failedCalls }) => failedCalls)?.failedCalls),
  };
}
