import OpenAI from "openai";
import { expect, it } from "vitest";
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
    set: { "trainer.total_batches": 1, "data.max_prompt_length": limit },
  });
  const { runDir } = await trainer.train();
  const [metrics] = readLines(runDir, "metrics.jsonl");
  expect(metrics?.[`rollout/termination_fraction/${reason}`]).toBe(1);
});
