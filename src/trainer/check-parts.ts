/**
 * Refuses options that name a backend, an agent or data where code passes its own: they would be
 * ignored. Knows no backend by name.
 */
import type { TrainingBackend } from "../core/backend.ts";
import { ConfigError } from "../core/errors.ts";
import { configFields } from "../config/fields.ts";
import { configTree } from "../config/parse.ts";
import type { TrainConfig } from "../config/train-config.ts";
import { valueAt } from "../config/tree.ts";

const parts: ReadonlySet<string> = new Set(["agent", "evaluator", "dataset.train", "dataset.val"]);

/**
 * Sections of other backends may stay: the same file can serve several.
 * @throws ConfigError that names every option that only the command line reads.
 */
export function checkParts(config: TrainConfig, backend: Pick<TrainingBackend, "name">): void {
  const { name } = backend;
  const tree = configTree(config);
  const ignored: string[] = [];
  for (const { key, default: standard } of configFields()) {
    const isOfBackend = key.startsWith(`${name}.`) || key.startsWith(`${name}_`);
    if (key !== "backend" && !parts.has(key) && !isOfBackend) continue;
    const value = valueAt(tree, key);
    if (key === "backend" && value === name) continue;
    const written = JSON.stringify(value);
    if (written !== JSON.stringify(standard)) ignored.push(`${key}=${written}`);
  }
  if (ignored.length === 0) return;
  throw new ConfigError({
    message: `Only the command line reads ${ignored.join(", ")}; this program brings its own backend (${name}), agent and data, so it would be ignored.`,
    hint: "Pass it in code: options of a backend to the function that makes it, the rest to AgentTrainer. Or run the configuration with `agent-trainer train`.",
    fields: { options: ignored, backend: name },
  });
}
