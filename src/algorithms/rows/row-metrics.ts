/** Metrics of a step's training rows, counted while the rows are built. */
import type { Lineage } from "../../core/lineages.ts";
import { summarize } from "../statistics.ts";
import { callKinds, type CallKind } from "../../core/lineage-kinds.ts";

/** Metrics of lineages, counted while their rows are built. */
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

export class RowCounts {
  #steps = 0;
  #tokens = 0;
  #trained = 0;
  readonly #perMember: number[] = [];
  readonly #responses: number[] = [];
  readonly #shares: number[] = [];

  /** One trajectory: how many rows, and the steps in them. */
  member(rows: number, steps: number): void {
    this.#perMember.push(rows);
    this.#steps += steps;
  }

  /** Tokens that are trained on, in all rows. */
  get trained(): number {
    return this.#trained;
  }

  /** A row of `length` tokens, made of these steps. */
  row(length: number, lineage: Lineage): void {
    const response = length - (lineage[0]?.trace.promptIds.length ?? 0);
    let trained = 0;
    for (const { trace } of lineage) trained += trace.responseIds.length;
    this.#tokens += length;
    this.#trained += trained;
    this.#responses.push(response);
    this.#shares.push(trained / response);
  }

  /**
   * `rows/count`, `rows/steps`, `rows/tokens`, `rows/trained_tokens`; `rows/steps_per_row` = steps per row;
   * `rows/per_trajectory/...`; `rows/response_length/...` = tokens from a row's first sampled one to its
   * end; `rows/sampled_fraction/...` = fraction of sampled tokens among those; `rows/breaks/{reason}`;
   * `rows/dropped/{reason}` in steps.
   */
  metrics(
    breaks: Readonly<Record<string, number>>,
    dropped: Readonly<Record<string, number>>,
  ): Record<string, number> {
    const count = this.#responses.length;
    const metrics: Record<string, number> = {
      "rows/count": count,
      "rows/steps": this.#steps,
      "rows/tokens": this.#tokens,
      "rows/trained_tokens": this.#trained,
      "rows/steps_per_row": count === 0 ? 0 : this.#steps / count,
      ...summarize("rows/per_trajectory", this.#perMember),
      ...summarize("rows/response_length", this.#responses),
      ...summarize("rows/sampled_fraction", this.#shares),
    };
    for (const [reason, times] of Object.entries(breaks)) metrics[`rows/breaks/${reason}`] = times;
    for (const [reason, times] of Object.entries(dropped))
      metrics[`rows/dropped/${reason}`] = times;
    return metrics;
  }
}
