/** A run with `record.compression: gzip`, resumed, and read by all that reads episodes. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { expect, it } from "vitest";
import { readEpisodes } from "../../src/runs/evaluations/recorded-episodes.ts";
import { callHttp } from "../../src/view/episode/exchange.ts";
import { readTrainedTokens } from "../../src/view/episode/token-records.ts";
import { RunIndex } from "../../src/view/index/run-index.ts";
import { coinBackend } from "../trainer/coin-backend.ts";
import { coinTasks, coinTrainer, newFolder } from "../trainer/coin-run.ts";

/** Stopped in step 4, after the checkpoint of step 2, and resumed. */
async function interruptedRun(compression: "none" | "gzip"): Promise<string> {
  const outputDir = newFolder();
  const options = (stop?: AbortController) => ({
    backend: coinBackend({ capabilities: { forward: true }, onForward: () => undefined }),
    valDataset: coinTasks.slice(0, 2),
    outputDir,
    resume: "auto" as const,
    set: {
      "trainer.total_batches": 4,
      "trainer.test_freq": 2,
      "trainer.save_freq": 2,
      "record.compression": compression,
      "record.token_rows": -1,
      "record.http_body_kb": 4,
      "algorithm.filter_uniform_groups": false,
    },
    ...(stop === undefined ? {} : { signal: stop.signal }),
    onEvent: ({ type, step }: { type: string; step: number }) => {
      if (type === "rollout-end" && step === 4) stop?.abort();
    },
  });
  await coinTrainer(options(new AbortController())).trainer.train();
  return (await coinTrainer(options()).trainer.train()).runDir;
}

it("keeps the same as plain text, in files that gzip reads", async () => {
  const [plain, packed] = [await interruptedRun("none"), await interruptedRun("gzip")];
  const names = readdirSync(join(packed, "episodes"));
  expect(names).toEqual(readdirSync(join(plain, "episodes")).map((name) => `${name}.gz`));
  const shown = (folder: string) =>
    Array.from(readEpisodes(folder), ({ id, output, reward, trajectories }) => ({
      id,
      output,
      reward,
      tokens: trajectories.flatMap(({ steps }) => steps.map(({ trace }) => trace.responseIds)),
    }));
  expect(shown(packed)).toEqual(shown(plain));
  const text = gunzipSync(readFileSync(join(packed, "episodes", names[0]!))).toString();
  const first = JSON.parse(text.slice(0, text.indexOf("\n"))) as { id: string };
  expect(shown(packed).map(({ id }) => id)).toContain(first.id);

  using index = new RunIndex(packed);
  await index.extend();
  expect(index.state()).toMatchObject({ episodes: shown(packed).length, damaged: 0 });
  for (let n = 1; n <= index.state().episodes; n++) {
    const episode = index.episode(n)!;
    const [step] = episode.trajectories[0]!.steps;
    expect(callHttp(packed, episode, 0)!.bodies!.request.text).toContain("messages");
    if (episode.id.startsWith("val-")) continue;
    const { id: trace, responseIds } = step!.trace;
    const at = { episode: episode.id, trace, step: Number.parseInt(episode.id, 10) };
    expect(readTrainedTokens(packed, { ...at, tokens: responseIds.length })).not.toBeNull();
  }
  expect(await index.extend()).toBe(false);
});
