/** Fields of requests that have no effect here: each is reported once in a gateway's life, and counted. */
import type { Protocol } from "../../../core/trace.ts";
import type { GatewayMetrics } from "../../metrics.ts";

/** Names come from clients, so there must be an end to them. */
const mostNames = 256;
const longestName = 64;

export class IgnoredFields {
  readonly #reported = new Set<string>();
  readonly #warn: (message: string) => void;
  readonly #metrics: GatewayMetrics;

  constructor(metrics: GatewayMetrics, warn: (message: string) => void) {
    this.#metrics = metrics;
    this.#warn = warn;
  }

  note(protocol: Protocol, names: readonly string[]): void {
    for (const name of names) this.#note(protocol, name);
  }

  #note(protocol: Protocol, name: string): void {
    const key = `${protocol} ${name}`;
    const isKnown = this.#reported.has(key);
    const isCountable = name.length <= longestName && (isKnown || this.#reported.size < mostNames);
    this.#metrics.ignored(protocol, isCountable ? name : "other");
    if (isKnown || !isCountable) return;
    this.#reported.add(key);
    this.#warn(
      `Requests (${protocol}) have the field ${JSON.stringify(name)}, which has no effect here. It is ignored, and reported only once.`,
    );
  }
}
