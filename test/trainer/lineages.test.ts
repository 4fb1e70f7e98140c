/** Rollouts that compact and start a sub-agent, trained: in steps, asynchronously, as workflows, and resumed. */
import { describe, expect, it } from "vitest";
import type { AgentConfig } from "../../src/core/agent.ts";
import type { Task } from "../../src/core/task.ts";
import { Workflow } from "../../src/rollouts/workflow/workflow.ts";
import { coinBackend, type CoinUpdate } from "./coin-backend.ts";
import {
  coinTrainer,
  type CoinTrainerOptions,
  newFolder,
  readLines,
  withoutClock,
} from "./coin-run.ts";

interface Message {
  readonly role: string;
  readonly content: string;
}

/** Two turns, a summary of them, one turn that begins with it, and a sub-agent next to them. */
async function converse(task: Task, config: AgentConfig): Promise<string> {
  const ask = async (messages: readonly Message[]): Promise<string> => {
    const response = await fetch(`${config.baseUrl}/chat/completions`, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: `Bearer ${config.apiKey}` },
      body: JSON.stringify({ model: config.model, messages }),
    });
    if (!response.ok) throw new Error(await response.text());
    const body = (await response.json()) as { choices: { message: Message }[] };
    return body.choices[0]!.message.content;
  };
  const messages: Message[] = [{ role: "user", content: task.instruction }];
  const say = async (next: string): Promise<string> => {
    const content = await ask(messages);
    messages.push({ role: "assistant", content }, { role: "user", content: next });
    return content;
  };
  await say("And now?");
  const [, found] = await Promise.all([
    say("Summarize."),
    ask([{ role: "user", content: `Look up ${task.id}.` }]),
  ]);
  const summary = await ask(messages);
  return ask([{ role: "user", content: `So far: ${summary}, ${found}. ${task.instruction}` }]);
}

class Compacting extends Workflow {
  override async run(task: Task): Promise<string> {
    return converse(task, this.config);
  }
}

const callsOf = ({ rows }: CoinUpdate): string[] =>
  rows.flatMap(({ segments }) =>
    segments.filter(({ kind }) => kind === "response").map(({ traceId }) => traceId),
  );

async function run(options: CoinTrainerOptions = {}) {
  const backend = coinBackend();
  const { trainer } = coinTrainer({ agentFlow: converse, backend, ...options });
  const { runDir } = await trainer.train();
  const lines = readLines(runDir, "metrics.jsonl").filter(({ phase }) => phase === "train");
  return { lines, updates: backend.updates };
}

describe("the lineages of a rollout", () => {
  it.each([
    ["in steps", {}],
    ["asynchronously", { set: { "async_training.enable": true } }],
    ["as workflows", { agentFlow: undefined, workflowClass: Compacting }],
  ] as const)("are trained with its reward, each call once: %s", async (_how, options) => {
    const { lines, updates } = await run({
      ...(options as CoinTrainerOptions),
      set: {
        ...("set" in options ? options.set : {}),
        "algorithm.filter_uniform_groups": false,
      },
    });
    expect(lines).toHaveLength(4);
    for (const line of lines)
      expect(line).toMatchObject({
        "groups/count": 2,
        "groups/size/max": 4,
        "lineages/per_rollout/mean": 3,
        "rows/count": 24,
        "rows/steps": 40,
        "rollout/unused_calls": 0,
      });
    for (const update of updates) {
      const calls = callsOf(update);
      expect([calls.length, new Set(calls).size]).toEqual([40, 40]);
      const advantages = new Map<string, Set<number>>();
      for (const { provenance, targetMask, advantages: values } of update.rows) {
        const own = advantages.get(provenance.episodeId) ?? new Set();
        advantages.set(provenance.episodeId, own);
        for (const [i, value] of values.entries()) if (targetMask[i] === 1) own.add(value);
      }
      expect([...advantages.values()].map(({ size }) => size)).toEqual(Array(8).fill(1));
    }
  });

  it("are the same after a run was resumed", async () => {
    const whole = await run();
    const outputDir = newFolder();
    const controller = new AbortController();
    const set = { "trainer.save_freq": 1 };
    await run({
      outputDir,
      set,
      signal: controller.signal,
      onEvent: ({ type, step }) => {
        if (type === "step-end" && step === 2) controller.abort();
      },
    });
    const resumed = await run({ outputDir, set, resume: "auto" });
    expect(resumed.lines.map(withoutClock)).toEqual(whole.lines.map(withoutClock));
  });
});

it("names a rule that the agent does not have", async () => {
  const agentFlow = {
    sideCalls: [{ name: "memory", matches: () => false }],
    run: converse,
  };
  await expect(run({ agentFlow, set: { "rollout.side_calls": ["memry"] } })).rejects.toThrow(
    "rollout.side_calls names the rule memry, but the agent has memory.",
  );
  await expect(run({ set: { "rollout.side_calls": ["title"] } })).rejects.toThrow("no rules");
});
