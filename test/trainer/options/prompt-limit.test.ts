import OpenAI from "openai";
import { expect, it } from "vitest";
import { createProgress } from "../../../src/cli/terminal/progress.ts";
import type { AgentFlowFunction } from "../../../src/core/agent.ts";
import { coinTrainer, readLines } from "../coin-run.ts";

const agentFlow: AgentFlowFunction = async (task, { baseUrl, apiKey, model }) => {
  const client = new OpenAI({ baseURL: baseUrl, apiKey, maxRetries: 0 });
  const messages = [{ role: "user" as const, content: task.instruction }];
  const completion = await client.chat.completions.create({ model, messages });
  return completion.choices[0]?.message.content;
};

it.each([
  [3, "max_prompt_length_exceeded"],
  [1000, "completed"],
])("data.max_prompt_length=%i: rollouts end as %s", async (limit, reason) => {
  const { trainer } = coinTrainer({
    agentFlow,
    set: {
      "trainer.total_batches": 1,
      "data.max_prompt_length": limit,
      "trainer.stop_when_nothing_learned": false,
    },
  });
  const { runDir } = await trainer.train();
  const [metrics] = readLines(runDir, "metrics.jsonl");
  expect(metrics?.[`rollout/termination_fraction/${reason}`]).toBe(1);
});

it("the cause that all rollouts share is said once: tokens, limit and option, and no evaluator is blamed", async () => {
  let shown = "";
  const stream = { isTTY: false, write: (text: string) => void (shown += text) };
  const progress = createProgress({ stream, isQuiet: false, env: {} });
  const { trainer, events } = coinTrainer({
    agentFlow,
    evaluator: (_task, { output }) => (output as string).length > 2,
    set: {
      "trainer.total_batches": 2,
      "data.max_prompt_length": 12,
      "trainer.stop_when_nothing_learned": false,
    },
    onEvent: (event) => progress.onEvent(event),
  });
  const { runDir, status, message } = await trainer.train();
  expect(status).toBe("untrained");
  expect(message).toContain("in 2 of 2 steps every rollout ended because a prompt did not fit");
  const warnings = events.flatMap((event) => (event.type === "warning" ? event.message : []));
  expect(warnings.filter((text) => /fit|baseUrl|failed/u.test(text))).toEqual([
    expect.stringMatching(
      /^All 8 rollouts of step 1 ended because a prompt did not fit\. The prompt has \d+ tokens, but data\.max_prompt_length allows 12\. Shorten the conversation, or raise data\.max_prompt_length\.$/u,
    ),
  ]);
  expect(shown.match(/unused 8  \(prompts too long\)/gu)).toHaveLength(2);
  for (const line of readLines(runDir, "metrics.jsonl"))
    expect(line).toMatchObject({
      "rollout/termination_fraction/max_prompt_length_exceeded": 1,
      "rollout/failed": 0,
      "train/skip_reason/prompt_too_long": 1,
    });
  const [episode] = readLines(runDir, "episodes", "000001.jsonl");
  expect(episode).toMatchObject({
    terminationReason: "max_prompt_length_exceeded",
    error: { message: expect.stringContaining("data.max_prompt_length allows 12") },
  });
});
