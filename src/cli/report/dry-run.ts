/** Formats a resolved configuration: every key, its value, and the layer that set it. */
import { stringify } from "yaml";
import { valueAt } from "../../config/tree.ts";
import { estimateRun, formatEstimate, type RunEstimate } from "../../trainer/budget/estimate.ts";
import type { LoadedConfig } from "../../config/load.ts";

function inline(value: unknown): string {
  return stringify(value, { collectionStyle: "flow", lineWidth: 0 }).trimEnd();
}

/** What the run takes; by step where only the dataset says how many there are. */
function estimateOf({ config }: LoadedConfig): RunEstimate {
  const { totalBatches } = config.trainer;
  const steps = totalBatches > 0 ? totalBatches : null;
  return estimateRun(config, { backend: config.backend, steps });
}

/** The tree as YAML with a comment on each line, and what a run of `train` is expected to cost. */
export function formatResolved(loaded: LoadedConfig, command: "train" | "fine-tune"): string {
  const { tree, origins, warnings } = loaded;
  const lines: { text: string; source: string }[] = [];
  let open: readonly string[] = [];
  for (const [key, source] of origins) {
    const parts = key.split(".");
    const sections = parts.slice(0, -1);
    sections.forEach((section, depth) => {
      if (open[depth] === section && depth < open.length) return;
      lines.push({ text: `${"  ".repeat(depth)}${section}:`, source: "" });
      open = [...open.slice(0, depth), section];
    });
    open = sections;
    const indent = "  ".repeat(sections.length);
    lines.push({ text: `${indent}${parts.at(-1)}: ${inline(valueAt(tree, key))}`, source });
  }
  const width = Math.min(60, Math.max(...lines.map((line) => line.text.length)));
  const remarks = warnings.map((notice) => `# ${notice}\n`);
  const values = lines
    .map(({ text, source }) => (source === "" ? text : `${text.padEnd(width)}  # ${source}`))
    .map((line) => `${line}\n`);
  const cost = command === "train" ? [`# ${formatEstimate(estimateOf(loaded))}\n`] : [];
  return [...values, ...remarks, ...cost].join("");
}

/** The same as one JSON value. */
export function resolvedAsJson(loaded: LoadedConfig, command: "train" | "fine-tune"): unknown {
  const { tree, sources, origins, warnings } = loaded;
  return {
    config: tree,
    sources: Object.fromEntries(sources),
    origins: Object.fromEntries(origins),
    notices: warnings,
    ...(command === "train" ? { estimate: estimateOf(loaded) } : {}),
  };
}
