/** A store of what the shop's customers asked, were told and thought of it, and a round that learns from it. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { makeTasks } from "../../examples/shop/tasks.ts";
import { ProductionStore } from "../../src/production/store/production-store.ts";
import { systemPrompt } from "../../examples/shop/agent.ts";

const shop = join(import.meta.dirname, "../../examples/shop/shop.yaml");

export interface Production extends Disposable {
  readonly folder: string;
  readonly file: string;
  /** Conversations, in turn one with a right answer and one with a wrong one, and their feedback. */
  add(name: string, conversations: number): Promise<void>;
}

export function newProduction(): Production {
  const folder = mkdtempSync(join(tmpdir(), "improve-"));
  const file = join(folder, "improve.yaml");
  const tasks = makeTasks("held-out", 6).map((task) => JSON.stringify(task));
  writeFileSync(join(folder, "held-out.jsonl"), `${tasks.join("\n")}\n`);
  writeFileSync(
    file,
    `config: ${JSON.stringify(shop)}
curate: { val_fraction: 0, min_rows: 8 }
train: { overrides: [data.train_batch_size=8, trainer.total_batches=3, trainer.test_freq=0, trainer.save_freq=1] }
gate: { held_out: held-out.jsonl, min_gain: -1 }
`,
  );
  return {
    folder,
    file,
    async add(name, conversations) {
      const store = new ProductionStore(join(folder, "production"));
      for (const [i, { id, instruction, metadata }] of makeTasks(name, conversations).entries()) {
        const isRight = i % 2 === 0;
        const at = 1e12 + i * 1000;
        await store.addSpans([
          {
            ...{ traceId: id, id, parentId: null, name: "chat", kind: "model", source: "otel" },
            ...{ startMs: at, endMs: at + 1, conversationId: id, user: `user-${i % 5}` },
            model: {
              model: "shop",
              messages: [
                { role: "system", content: systemPrompt },
                { role: "user", content: instruction },
              ],
              tools: [],
              completeness: { state: "complete" },
              response: {
                role: "assistant",
                content: String(isRight ? metadata.answer : metadata.count),
              },
            },
          },
        ]);
        await store.addFeedback([{ conversationId: id, thumb: isRight ? "up" : "down", at }]);
      }
      await store.close();
    },
    [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }),
  };
}
