/** What the small examples have in common: a shop assistant should look prices up instead of guessing. */
import { type AgentTrainer, defineConfig, type Task } from "agent-trainer";

const items = ["mug", "plate", "clock", "shirt", "pen", "book", "hat", "desk"];

export const tasks: Task<{ item: string }>[] = items.map((item) => ({
  id: item,
  instruction: `How much do 3 ${item}s cost?`,
  metadata: { item },
}));

export const systemPrompt = "You are a shop assistant.";

/** The conversation at the start of each rollout. */
export const opening = (question: string) => [
  { role: "system" as const, content: systemPrompt },
  { role: "user" as const, content: question },
];

/** JSON Schema of the parameters of `get_price`. */
export const parameters = {
  type: "object",
  properties: { item: { type: "string" as const } },
};
export const tool = { type: "function" as const, function: { name: "get_price", parameters } };

/** Twelve steps of eight tasks, eight rollouts each: about ten seconds. */
export const config = defineConfig({
  model: { name: "builtin:shop-tiny" },
  data: { trainBatchSize: 8 },
  rollout: { n: 8 },
  training: { learningRate: 1e-3 },
  trainer: { totalBatches: 12 },
});

/** Trains, and prints the mean reward of each step, and that of roles. */
export async function trainAndPrint(
  trainer: AgentTrainer,
  roles: readonly string[] = [],
): Promise<void> {
  for await (const event of trainer.events()) {
    if (event.type !== "step-end") continue;
    const of = (name: string, key: string) => `${name} ${event.metrics[key]?.toFixed(3)}`;
    const rewards = roles.map((role) => of(role, `reward/${role}/mean`));
    console.log([`step ${event.step}`, of("reward", "reward/mean"), ...rewards].join("  "));
  }
}
