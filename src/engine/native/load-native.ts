/** Finds the binary of this platform. */
import { createRequire } from "node:module";
import type { Native } from "./native.ts";

const require = createRequire(import.meta.url);

let loaded: Native | undefined;

/** The addon, loaded once for each thread of Node. */
export function loadNative(): Native {
  loaded ??= require("../../../native/prebuilt/linux-x64-gnu/agent-trainer.node") as Native;
  return loaded;
}
