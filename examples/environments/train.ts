/**
 * A custom environment, trained on without an agent: a loop offers its tools to the model.
 * `npx tsx examples/environments/train.ts`. Takes about fifteen seconds.
 */
import { AgentTrainer } from "agent-trainer";
import { config } from "../shared/prices.ts";
import { shop } from "./shop.ts";

const trainer = new AgentTrainer({
  env: shop,
  config: {
    ...config,
    environment: { systemPrompt: "You are a shop assistant.", maxTurns: 2 },
  },
});

for await (const event of trainer.events()) {
  if (event.type !== "step-end") continue;
  console.log(`step ${event.step}  reward ${event.metrics["reward/mean"]?.toFixed(3)}`);
}
