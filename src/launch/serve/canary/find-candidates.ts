/** Looks for versions that a canary may try: a model that was named, or newer checkpoints of a run. */
import { setTimeout as sleep } from "node:timers/promises";
import { nameModel } from "../model-host.ts";
import { modelVersion } from "../version.ts";
import type { CanaryModel } from "./canary-model.ts";

export interface CandidateSource {
  /** A run, a checkpoint or another model. */
  readonly model: string;
  /** Looks again and again, for the checkpoints that a run saves. */
  readonly follow: boolean;
  readonly everyMs: number;
  readonly onWarning: (message: string) => void;
}

/** Runs until the signal is aborted, or once; the same problem is reported once. */
export async function findCandidates(
  canary: CanaryModel,
  { model, follow, everyMs, onWarning }: CandidateSource,
  signal: AbortSignal,
): Promise<void> {
  let reported = "";
  for (;;) {
    try {
      if (canary.state.trial === null) {
        const found = await nameModel({ name: canary.name, model });
        const version = modelVersion(found.located);
        if (canary.isNew(version)) await canary.consider(found, version);
      }
      reported = "";
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      if (why !== reported) onWarning(`${model} cannot be tried: ${why}`);
      reported = why;
    }
    if (!follow) return;
    await sleep(everyMs, undefined, { signal, ref: false }).catch(() => {});
    if (signal.aborted) return;
  }
}
