/**
 * An environment of one's own, served over the Open Reward Standard and trained on by its address, as any
 * other server of environments is: `npx tsx examples/environments/train.ts`. Takes about fifteen seconds.
 */
import { AgentTrainer } from "agent-trainer";
import { serveEnvironment } from "agent-trainer/environments";
import { config } from "../shared/prices.ts";
import { shop } from "./shop.ts";

await using server = await serveEnvironment(shop, { port: 0 });

const trainer = new AgentTrainer({
  env: `ors:${server.url}`,
  config: {
    ...config,
    environment: { systemPrompt: "You are a shop assistant.", maxTurns: 2 },
  },
});

for await (const event of trainer.events()) {
  if (event.type !== "step-end") continue;
  console.log(`step ${event.step}  reward ${event.metrics["reward/mean"]?.toFixed(3)}`);
}
