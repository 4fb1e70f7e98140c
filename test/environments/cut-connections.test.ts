/** Many episodes at the same time while connections are cut: no step twice, and nothing is lost. */
import { expect, it } from "vitest";
import { TrackedEpisode } from "../../src/environments/episode/tracked-episode.ts";
import { OrsSource } from "../../src/environments/ors/ors-source.ts";
import { mapConcurrent } from "../../src/util/concurrency.ts";
import { type Fault, startWireServer } from "./ors-wire-server.ts";

const episodes = 64;
const steps = 5;

/** Every fifth call, in turn before its id, after it and within its result. */
const faults: readonly Fault[] = ["before", "after-id", "in-result"];
const faultOf = (index: number): Fault =>
  index % 5 === 4 ? faults[Math.floor(index / 5) % 3]! : "none";

it("64 episodes, a fifth of the connections cut", async () => {
  const tasks = Array.from({ length: episodes }, (_, i) => ({ question: `Count ${i}` }));
  const server = await startWireServer({
    tasks,
    fault: faultOf,
    output: (_call, before) => ({
      ok: true,
      output: {
        blocks: [{ type: "text", text: String(before.length + 1) }],
        reward: 1,
        finished: before.length + 1 === steps,
      },
    }),
  });
  const source = new OrsSource({ url: server.url });
  const read = [];
  for await (const task of source.tasks("train")) read.push(task);
  let failures = 0;
  const rewards = await mapConcurrent(read, episodes, async (task, _index, signal) => {
    for (;;) {
      const episode = new TrackedEpisode(await source.open(task, { signal }));
      try {
        for (let n = 1; n <= steps; n++) {
          const { text } = await episode.call("answer", { answer: `${task.id}:${n}` }, signal);
          // The environment counts its steps: a step that ran twice would show here.
          if (text !== String(n)) throw new TypeError(`Step ${n} was counted as ${text}.`);
        }
        return episode.score().reward;
      } catch (error) {
        if (error instanceof TypeError) throw error;
        failures++;
      } finally {
        await episode.close();
      }
    }
  });
  expect(rewards).toEqual(Array.from({ length: episodes }, () => steps));
  const seen = server.calls.map(({ sid, input }) => `${sid} ${String(input["answer"])}`);
  expect(new Set(seen).size).toBe(seen.length);
  // Only calls that were cut before their id cost an episode.
  const begun = server.requests.filter(
    ({ path, body }) => path.endsWith("/call") && !("task_id" in body),
  );
  const cut = begun.map((_one, index) => faultOf(index));
  expect(failures).toBe(cut.filter((fault) => fault === "before").length);
  expect(failures).toBeGreaterThan(10);
  expect(server.open.size).toBe(0);
  await server.close();
});
