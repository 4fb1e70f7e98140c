import { expect, it } from "vitest";
import { createRandom, deriveSeed } from "../../src/util/random.ts";
import { request, questions, retryingAgent, runThroughGateway } from "./gateway-run.ts";

const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Neither waits for its signal nor stops at an error: the worst kind of agent. */
const stubborn = async (work: () => Promise<unknown>): Promise<void> => {
  await work().catch(() => {});
};

it("keeps nothing of earlier attempts, whatever they still do", async () => {
  const background: Promise<void>[] = [];
  let straggling = 0;
  const { episodes } = await runThroughGateway({
    tasks: Array.from({ length: 60 }, (_, i) => `t${i}`),
    limits: { concurrency: 20, retries: 4, timeoutMs: 2000 },
    failures: retryingAgent,
    script: async ({ index }) => {
      await wait((index * 7919) % 11);
      return "ok";
    },
    flow: async (task, config) => {
      const attempt = Number(config.sessionUid.split("#").at(-1));
      const random = createRandom(deriveSeed(5, task.id, attempt));
      const say = `${task.id} attempt ${attempt}`;
      const calls = 1 + Math.floor(random() * 3);
      for (let i = 0; i < calls; i++) await request(config, say);
      const fate = attempt > 3 ? 1 : random();
      if (fate < 0.6) {
        // Goes on beside the attempts that follow, and uses every endpoint that it has.
        const solver = config.trajectory("solver");
        background.push(
          stubborn(async () => {
            for (let i = 0; i < 10; i++) {
              await wait(random() * 15);
              straggling++;
              await stubborn(() => request(config, `${say} late`));
              await stubborn(() => request(solver, `${say} late`));
            }
          }),
        );
      }
      if (fate < 0.4) throw new Error("failed");
      if (fate < 0.42) await wait(2200);
      return say;
    },
  });
  await Promise.all(background);
  expect(straggling).toBeGreaterThan(100);
  expect(episodes.some(({ attempts }) => attempts > 2)).toBe(true);
  // The fourth attempt always returns; at worst late, but never mixed up.
  const completed = episodes.filter(({ terminationReason }) => terminationReason === "completed");
  expect(completed.length).toBeGreaterThan(30);
  for (const episode of completed) {
    const own = `${episode.task.id} attempt ${episode.attempts}`;
    expect(episode.output).toBe(own);
    for (const question of Object.values(questions(episode)).flat()) {
      expect([own, `${own} late`]).toContain(question);
    }
  }
});
