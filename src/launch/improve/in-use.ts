/** Which model is in use when a round begins: what the canary says, else what was handed over last. */
import { existsSync, readdirSync } from "node:fs";
import type { ImproveConfig } from "../../config/improve/improve-config.ts";
import { ConfigError } from "../../core/errors.ts";
import { readHandedOver } from "../../runs/rounds/handed-over.ts";
import type { RoundModel } from "../../runs/rounds/round.ts";
import { locateModel } from "../evaluate/locate-model.ts";
import {
  canaryFolder,
  type CanaryState,
  readCanary,
  servedFolder,
} from "../serve/canary/canary-state.ts";
import { checkpointVersion } from "../serve/version.ts";

/** The name that a server with a canary uses; null where none has used the store. */
function servedName({ servedAs, collect }: ImproveConfig): string | null {
  if (servedAs !== null) return servedAs;
  const folder = servedFolder(collect.store);
  const names = existsSync(folder) ? readdirSync(folder).map(decodeURIComponent) : [];
  if (names.length <= 1) return names[0] ?? null;
  throw new ConfigError({
    message: `The store ${collect.store} knows ${names.length} served models: ${names.join(", ")}.`,
    hint: "Set served_as to the name of the one that is improved.",
    fields: { option: "served_as" },
  });
}

/** What the server that has the store decided; null where there is none. */
export function readServed(config: ImproveConfig): CanaryState | null {
  const name = servedName(config);
  return name === null ? null : readCanary(canaryFolder(config.collect.store, name));
}

/** With the exact checkpoint, where the model has any. */
export async function pinned(model: string): Promise<RoundModel> {
  const located = await locateModel(model);
  if (located.kind !== "checkpoint") return { model, version: null };
  const { checkpoint } = located;
  return { model: checkpoint.path, version: checkpointVersion(checkpoint) };
}

/** @param first the model before anything was handed over */
export function modelInUse(
  config: ImproveConfig,
  served: CanaryState | null,
  first: string,
): Promise<RoundModel> {
  const model = served?.current.model ?? readHandedOver(config.folder)?.model ?? first;
  return pinned(model);
}
