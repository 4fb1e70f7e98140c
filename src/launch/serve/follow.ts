/** Looks for newer checkpoints of served runs, and has them served. */
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { locateModel } from "../evaluate/locate-model.ts";
import { namesStep, useKept } from "../evaluate/open-checkpoint.ts";
import { type Checkpoint, listCheckpoints } from "../../runs/checkpoint.ts";
import type { ModelHost } from "./model-host.ts";
import type { ModelServerOptions } from "./serve-options.ts";

type Listener = Pick<ModelServerOptions, "onSwap" | "onWarning">;

/** Serves the run's checkpoint where it is another than the one that is served. */
async function update(host: ModelHost, path: string, { onSwap }: Listener): Promise<void> {
  const find = async (): Promise<Checkpoint | null> => {
    const located = await locateModel(path);
    return located.kind === "checkpoint" ? located.checkpoint : null;
  };
  const found = await find();
  if (found === null || found.state.step === host.step) return;
  const { checkpoint } = await useKept(found, (one) => host.swap(one), find);
  onSwap?.({ model: host.name, step: checkpoint.state.step, checkpoint: checkpoint.path });
}

/** What changes when a run saves a checkpoint; "" where there is none. */
async function stateOf(path: string): Promise<string> {
  const folders = [path, dirname(path), dirname(dirname(path))];
  const steps = await Promise.all(folders.map((run) => listCheckpoints(join(run, "checkpoints"))));
  return steps.map((each) => each.join()).join(";");
}

/** Runs until the signal is aborted; a checkpoint that cannot be used is reported once. */
export async function follow(
  hosts: readonly ModelHost[],
  everyMs: number,
  signal: AbortSignal,
  listener: Listener,
): Promise<void> {
  const followed = hosts.filter(({ runPath }) => runPath !== null && !namesStep(runPath));
  const seen = new Map<ModelHost, string>();
  while (!signal.aborted) {
    for (const host of followed) {
      const path = host.runPath as string;
      const state = await stateOf(path).catch(() => "");
      if (state === "" || seen.get(host) === state) continue;
      seen.set(host, state);
      try {
        await update(host, path, listener);
      } catch (error) {
        const why = error instanceof Error ? error.message : String(error);
        listener.onWarning?.(`${host.name} stays at step ${host.step}: ${why}`);
      }
    }
    await sleep(everyMs, undefined, { signal, ref: false }).catch(() => {});
  }
}
