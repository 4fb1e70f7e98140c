/**
 * Teaches SmolLM2-135M-Instruct to turn orders into JSON: GRPO with LoRA on the CPU, about five
 * minutes on two cores. The model is the first argument: a folder, a .gguf file, or OWNER/NAME on a
 * hub.
 */
import { AgentTrainer, buildTrainConfig } from "agent-trainer";
import { createLocalBackend } from "agent-trainer/local";
import OpenAI from "openai";
import { evaluator, trainTasks, valTasks } from "./orders.ts";

const question =
  'Turn this order into a JSON object with the two keys "item" (a string) and "count" (a number): ';
const [modelName = "HuggingFaceTB/SmolLM2-135M-Instruct", ...overrides] = process.argv.slice(2);

await using backend = createLocalBackend();
const trainer = new AgentTrainer({
  backend,
  agentFlow: async (task, { baseUrl, apiKey, model, signal }) => {
    const client = new OpenAI({ baseURL: baseUrl, apiKey, maxRetries: 0 });
    const answer = await client.chat.completions.create(
      { model, messages: [{ role: "user", content: question + task.instruction }] },
      { signal },
    );
    return answer.choices[0]?.message.content ?? "";
  },
  evaluator,
  config: buildTrainConfig({
    modelName,
    loraRank: 16,
    batchSize: 8,
    groupSize: 8,
    lr: 3e-4,
    totalSteps: 40,
    valFreq: 10,
    overrides: ["rollout.train={max_tokens: 32}", "rollout.val={max_tokens: 32}", ...overrides],
  }),
  trainDataset: trainTasks,
  valDataset: valTasks,
});
for await (const event of trainer.events()) {
  if (event.type === "step-end")
    console.log(`step ${event.step}  reward ${event.metrics["reward/mean"]?.toFixed(3)}`);
  if (event.type === "validation-end") {
    const { "val/reward/mean": reward, "val/pass@1": right } = event.metrics;
    console.log(`validation: reward ${reward?.toFixed(3)}, right ${right?.toFixed(3)}`);
  }
}
