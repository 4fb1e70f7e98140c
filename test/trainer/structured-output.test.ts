import OpenAI from "openai";
import { expect, it } from "vitest";
import type { AgentConfig } from "../../src/core/agent.ts";
import type { Task } from "../../src/core/task.ts";
import type { Episode } from "../../src/core/trajectory.ts";
import { evaluate } from "../../src/launch/evaluate/evaluate.ts";
import { AgentTrainer } from "../../src/launch/agent-trainer.ts";
import type { TrainerEvent } from "../../src/core/events.ts";
import { newFolder, readLines } from "./coin-run.ts";

const verdict = {
  type: "object",
  properties: { verdict: { type: "string", enum: ["yes", "no"] } },
  required: ["verdict"],
  additionalProperties: false,
} as const;
/** Any token but the stop tokens; the model would not choose it by itself. */
const favorite = 65;

const tasks: readonly Task[] = ["mug", "clock", "chair"].map((item) => ({
  id: item,
  instruction: `How much do 3 ${item}s cost?`,
  metadata: {},
}));

/** One call for each way of asking for a form. */
async function agentFlow(task: Task, { baseUrl, apiKey, model }: AgentConfig): Promise<string> {
  const client = new OpenAI({ baseURL: baseUrl, apiKey, maxRetries: 0 });
  const messages = [{ role: "user" as const, content: task.instruction }];
  const formed = await client.chat.completions.create({
    model,
    messages,
    response_format: {
      type: "json_schema",
      json_schema: { name: "verdict", strict: true, schema: verdict },
    },
  });
  const called = await client.chat.completions.create({
    model,
    messages,
    tools: [{ type: "function", function: { name: "judge", strict: true, parameters: verdict } }],
    tool_choice: "required",
  });
  const biased = await client.chat.completions.create({
    model,
    messages,
    max_tokens: 3,
    logit_bias: { [favorite]: 100 },
    logprobs: true,
  });
  const [call] = called.choices[0]!.message.tool_calls ?? [];
  return JSON.stringify([
    formed.choices[0]!.message.content,
    call?.type === "function" ? call.function.arguments : null,
    [...new Set(biased.choices[0]!.logprobs?.content?.map(({ token }) => token))],
  ]);
}

const isVerdict = (text: string | null): boolean => {
  try {
    return /^\{"verdict":"(?:yes|no)"\}$/u.test(JSON.stringify(JSON.parse(text ?? "")));
  } catch {
    return false;
  }
};

/** 1 where every form is kept; the fraction says which are not. */
function evaluator(_task: Task, { output, trajectories }: Episode) {
  const [formed, args] = JSON.parse(String(output)) as [string, string];
  const biased = trajectories
    .flatMap(({ steps }) => steps)
    .some(
      ({ trace }) =>
        trace.responseIds.length === 3 && trace.responseIds.every((id) => id === favorite),
    );
  const kept = [isVerdict(formed), isVerdict(args), biased].map(Number);
  return { reward: (kept[0]! + kept[1]! * 2 + kept[2]! * 4) / 7, isCorrect: kept.every(Boolean) };
}

const validated = (metrics: Readonly<Record<string, unknown>>) =>
  Object.fromEntries(Object.entries(metrics).filter(([name]) => name.startsWith("val/")));

it.each([null, 400])(
  "a run on the embedded engine enforces what calls ask for, and so does the evaluation of its checkpoint; data.max_prompt_length=%s",
  { timeout: 120_000 },
  async (maxPromptLength) => {
    const events: TrainerEvent[] = [];
    const { runDir } = await new AgentTrainer({
      agentFlow,
      evaluator,
      trainDataset: tasks,
      valDataset: tasks,
      config: {
        "model.name": "builtin:shop-tiny",
        "dataset.leak_check": false,
        "data.train_batch_size": 2,
        "data.max_prompt_length": maxPromptLength,
        "rollout.n": 2,
        "rollout.train": { max_tokens: 48, temperature: 1.5 },
        "rollout.val": { max_tokens: 48, temperature: 1.5 },
        "training.learning_rate": 1e-3,
        "trainer.total_batches": 1,
        "trainer.test_freq": 1,
        "trainer.save_freq": 1,
        "trainer.output_dir": newFolder(),
      },
      onEvent: (event) => events.push(event),
    }).train();
    const lines = readLines(runDir, "metrics.jsonl");
    const trained = lines.find(({ phase }) => phase === "train");
    expect(trained?.["reward/mean"]).toBe(1);
    const last = lines.findLast(({ phase }) => phase === "validation");
    expect(last?.["val/reward/mean"]).toBe(1);
    const { summary } = await evaluate({
      agentFlow,
      evaluator,
      dataset: tasks,
      model: `${runDir}/checkpoints/000001`,
    });
    expect(validated(summary.metrics)).toEqual(validated(last!));
    const messages = events.flatMap((event) => (event.type === "warning" ? event.message : []));
    expect(messages.filter((message) => /enforce|freely/u.test(message))).toEqual([]);
  },
);
