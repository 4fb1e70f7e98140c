/** Metrics of lineages, counted while their rows are built. */
import { callKinds, type CallKind } from "../../core/lineage-kinds.ts";
import type { Lineage } from "../../core/lineages.ts";
import { summarize } from "../statistics.ts";

export class LineageCounts {
  readonly #perRollout = new Map<string, number>();
  readonly #tokens: Record<CallKind, number> = { summary: 0, sub_agent: 0 };

  /** Those of one trajectory. */
  trajectory(episodeId: string, lineages: readonly Lineage[]): void {
    this.#perRollout.set(episodeId, (this.#perRollout.get(episodeId) ?? 0) + lineages.length);
    // What is for something else than the task is in a separate lineage, or is followed by one.
    const kinds = lineages.length > 1 ? callKinds(lineages) : [];
    for (const [{ trace }, kind] of kinds) this.#tokens[kind] += trace.responseIds.length;
  }

  /** `lineages/per_rollout/...`; `lineages/{kind}_fraction` of `trained` tokens. */
  metrics(trained: number): Record<string, number> {
    const metrics = summarize("lineages/per_rollout", [...this.#perRollout.values()]);
    for (const [kind, tokens] of Object.entries(this.#tokens))
      metrics[`lineages/${kind}_fraction`] = trained === 0 ? 0 : tokens / trained;
    return metrics;
  }
}
