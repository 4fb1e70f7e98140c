/** What an agent asks for in vain is a warning of the run, once. */
import { expect, it } from "vitest";
import type { AgentConfig } from "../../src/core/agent.ts";
import type { Task } from "../../src/core/task.ts";
import { coinTrainer } from "./coin-run.ts";

async function askInVain(task: Task, config: AgentConfig): Promise<string> {
  const response = await fetch(`${config.baseUrl}/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${config.apiKey}` },
    body: JSON.stringify({
      model: config.model,
      messages: [{ role: "user", content: task.instruction }],
      user: "somebody",
      verbosity: "low",
    }),
    signal: config.signal,
  });
  const body = (await response.json()) as { choices: { message: { content: string } }[] };
  return body.choices[0]?.message.content ?? "";
}

it.each([
  ["in turns", {}],
  ["overlapped", { "async_training.enable": true }],
])("%s", async (_mode, mode) => {
  const { trainer, events } = coinTrainer({ agentFlow: askInVain, set: mode });
  const result = await trainer.train();
  expect(result.status).toBe("completed");
  const told = events.flatMap((event) =>
    event.type === "warning" && event.message.includes("no effect") ? [event.message] : [],
  );
  expect(told).toEqual([
    'Requests (openai-chat) have the field "verbosity", which has no effect here. It is ignored, and reported only once.',
  ]);
});
