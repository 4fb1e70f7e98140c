/**
 * Refuses options that name a backend, an agent or data where code passes its own: they would be
 * ignored. Knows no backend by name.
 */
import { ConfigError } from "../core/errors.ts";
import { configFields } from "../config/fields.ts";
import { optionValue } from "../config/option-types.ts";
import { configTree } from "../config/parse.ts";
import type { TrainConfig } from "../config/train-config.ts";

/** What code passes, so that the options of the same purpose have no effect. */
export interface PassedParts {
  /** Name of the backend; `null` when the trainer creates it. */
  readonly backend: string | null;
  readonly agent: boolean;
  readonly groupEvaluator: boolean;
  readonly trainDataset: boolean;
  readonly valDataset: boolean;
}

/**
 * Sections of other backends may stay: the same file can serve several.
 * @throws ConfigError that names every option that would be ignored.
 */
export function checkParts(config: TrainConfig, passed: PassedParts): void {
  const { backend } = passed;
  const parts = new Map([
    ["agent", passed.agent],
    ["evaluator", passed.agent],
    ["group_evaluator", passed.groupEvaluator],
    ["dataset.train", passed.trainDataset],
    ["dataset.sources", passed.trainDataset || passed.valDataset],
    ["dataset.val", passed.valDataset],
  ]);
  const tree = configTree(config);
  const ignored: string[] = [];
  for (const field of configFields()) {
    const { key, default: standard } = field;
    const isOfBackend = backend !== null && (key === "backend" || key.startsWith(`${backend}.`));
    if (!isOfBackend && parts.get(key) !== true) continue;
    const value = optionValue(tree, field);
    if (key === "backend" && value === backend) continue;
    const written = JSON.stringify(value);
    if (written !== JSON.stringify(standard)) ignored.push(`${key}=${written}`);
  }
  if (ignored.length === 0) return;
  const own = [
    ...(backend === null ? [] : [`backend (${backend})`]),
    ...(passed.agent ? ["agent"] : []),
    ...(passed.groupEvaluator ? ["group evaluator"] : []),
    ...(passed.trainDataset || passed.valDataset ? ["data"] : []),
  ];
  throw new ConfigError({
    message: `${ignored.join(", ")} would be ignored: this program passes its own ${own.join(", ")}.`,
    hint: "Remove these options, or do not pass in code what they name. Options of a backend object belong to the function that creates it; with backend as a name, the trainer reads them.",
    fields: { options: ignored, backend },
  });
}
