/** `engine-busy`: what is left of the engine's speed next to an endless loop on each processor. */
import { spawn } from "node:child_process";
import { defaultThreads, type ModelCase, writeSmolModel } from "../engine/models.ts";
import type { SampleTurn, TrainTurn, TurnAnswer } from "../engine-peers/turn.ts";
import { startOurs } from "../engine-peers/turns.ts";
import type { Benchmark } from "../harness/benchmark.ts";
import type { LineProcess } from "../harness/line-process.ts";
import { atLeast, compared, type Result } from "../harness/result.ts";
import { median } from "../harness/statistics.ts";
import { createTempFolder } from "../harness/temp-folder.ts";

/** One process that never waits for each thread of the engine. */
function startLoops(): Disposable {
  const loops = Array.from({ length: defaultThreads() }, () =>
    spawn(process.execPath, ["-e", "for (;;);"], { stdio: "ignore" }),
  );
  const kill = (): void => {
    for (const loop of loops) loop.kill("SIGKILL");
  };
  process.once("exit", kill);
  return {
    [Symbol.dispose](): void {
      kill();
      process.removeListener("exit", kill);
    },
  };
}

async function measure(
  ours: LineProcess,
  turn: TrainTurn | SampleTurn,
  repetitions: number,
): Promise<{ readonly alone: readonly number[]; readonly busy: readonly number[] }> {
  const alone: number[] = [];
  const busy: number[] = [];
  for (let i = 0; i < repetitions; i++) {
    alone.push((await ours.askWarm<TurnAnswer>(turn)).seconds);
    using _ = startLoops();
    busy.push((await ours.askWarm<TurnAnswer>(turn)).seconds);
  }
  return { alone, busy };
}

function share(
  model: ModelCase,
  what: string,
  tokens: number,
  { alone, busy }: Awaited<ReturnType<typeof measure>>,
  goal: number,
): Result {
  return compared(
    `${model.name}, ${what}`,
    "tokens/s",
    {
      ours: tokens / median(busy),
      peer: tokens / median(alone),
      peerName: "without the loops",
      ratio: median(busy.map((seconds, i) => alone[i]! / seconds)),
    },
    atLeast(goal),
  );
}

export const engineBusy: Benchmark = {
  name: "engine-busy",
  summary: "the embedded engine next to an endless loop on each processor",
  repetitions: 5,
  async run({ quick, repetitions }, log) {
    using folder = createTempFolder();
    log("writing a model of SmolLM2-135M's shape (538 MB) ...");
    const model = await writeSmolModel(folder.path);
    using ours = startOurs();
    await ours.ask({ do: "open", model });
    const [rows, tokens] = quick ? [2, 16] : [4, 256];
    log(`training ${rows} x ${tokens}, in turns ...`);
    const train = await measure(ours, { do: "train", rows, tokens }, repetitions);
    const [batch, newTokens] = quick ? [4, 8] : [32, 64];
    log(`sampling, batch ${batch}, in turns ...`);
    const sizes = { promptTokens: newTokens, newTokens };
    const sample = await measure(ours, { do: "sample", batch, ...sizes }, repetitions);
    return [
      share(model, `training ${rows} x ${tokens}`, rows * tokens, train, 0.48),
      share(model, `sampling, batch ${batch}`, batch * newTokens, sample, 0.45),
    ];
  },
};
