/**
 * `agent-trainer/local`: the embedded engine as a training backend.
 *
 * @module local
 */
import { LocalBackend, type LocalBackendOptions } from "./backend.ts";

export type { LocalBackendOptions } from "./backend.ts";
export type { PullProgress } from "../../models/hub/pull-files.ts";

/**
 * Creates the `local` backend, which trains in this process on the CPU. The caller disposes of it. With
 * `backend: "local"`, the default, `AgentTrainer` creates one itself.
 *
 * @example
 * await using backend = createLocalBackend({ threads: 4 });
 * const trainer = new AgentTrainer({ backend, agentFlow, evaluator, config, trainDataset });
 */
export function createLocalBackend(options: LocalBackendOptions = {}): LocalBackend {
  return new LocalBackend(options);
}

export type { LocalBackend };
