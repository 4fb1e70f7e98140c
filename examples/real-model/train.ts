/**
 * Teaches SmolLM2-135M-Instruct to turn orders into JSON: GRPO with LoRA on the CPU, about five
 * minutes on two cores. The model is the first argument: a folder, a .gguf file, or OWNER/NAME on a
 * hub. Further arguments are options, such as training.learning_rate=1e-4.
 */
import { AgentTrainer, loadConfig } from "agent-trainer";
import OpenAI from "openai";
import { evaluator, trainTasks, valTasks } from "./orders.ts";

const question =
  'Turn this order into a JSON object with the two keys "item" (a string) and "count" (a number): ';
const [modelName = "HuggingFaceTB/SmolLM2-135M-Instruct", ...overrides] = process.argv.slice(2);

const { config } = loadConfig({
  overrides: [
    `model.name=${modelName}`,
    "model.lora_rank=16",
    "data.train_batch_size=8",
    "rollout.n=8",
    "rollout.train.max_tokens=32",
    "rollout.val.max_tokens=32",
    "training.learning_rate=3e-4",
    "trainer.total_batches=40",
    "trainer.test_freq=10",
    ...overrides,
  ],
});
const trainer = new AgentTrainer({
  agentFlow: async (task, { baseUrl, apiKey, model, signal }) => {
    const client = new OpenAI({ baseURL: baseUrl, apiKey, maxRetries: 0 });
    const answer = await client.chat.completions.create(
      { model, messages: [{ role: "user", content: question + task.instruction }] },
      { signal },
    );
    return answer.choices[0]?.message.content ?? "";
  },
  evaluator,
  config,
  trainDataset: trainTasks,
  valDataset: valTasks,
});
let sampled = 0;
for await (const event of trainer.events()) {
  if (event.type === "step-end") {
    sampled += event.metrics["tokens/sampled"] ?? 0;
    const reward = event.metrics["reward/mean"]?.toFixed(3);
    console.log(`step ${event.step}  reward ${reward}  sampled tokens ${sampled}`);
  }
  if (event.type === "validation-end") {
    const { "val/reward/mean": reward, "val/pass@1": right } = event.metrics;
    console.log(`validation: reward ${reward?.toFixed(3)}, right ${right?.toFixed(3)}`);
  }
}
