/** Teaches the built-in model to look prices up instead of guessing them. Takes about ten seconds. */
import { AgentTrainer } from "agent-trainer";
import OpenAI from "openai";

const parameters = { type: "object", properties: { item: { type: "string" } } };
const items = ["mug", "plate", "clock", "shirt", "pen", "book", "hat", "desk"];

const trainer = new AgentTrainer({
  // The agent: any code that calls a model. What it returns becomes `episode.output`.
  agentFlow: async (task, config) => {
    const client = new OpenAI({ baseURL: config.baseUrl, apiKey: config.apiKey });
    const answer = await client.chat.completions.create({
      model: config.model,
      messages: [
        { role: "system", content: "You are a shop assistant." },
        { role: "user", content: task.instruction },
      ],
      tools: [{ type: "function", function: { name: "get_price", parameters } }],
    });
    return answer.choices[0]?.message.tool_calls?.length ?? 0;
  },
  // The score: true is reward 1, false is reward 0.
  evaluator: (_task, episode) => episode.output === 1,
  config: {
    model: { name: "builtin:shop-tiny" },
    training: { learningRate: 1e-3 },
    trainer: { totalBatches: 12 },
  },
  trainDataset: items.map((item) => ({ instruction: `How much do 3 ${item}s cost?` })),
});
for await (const event of trainer.events()) {
  if (event.type === "step-end") console.log(event.step, event.metrics["reward/mean"]);
}
