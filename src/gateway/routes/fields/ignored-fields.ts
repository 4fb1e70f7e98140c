/** What requests ask for and does not happen here: each is reported once in a gateway's life, and counted. */
import type { Protocol } from "../../../core/trace.ts";
import type { GatewayMetrics } from "../../metrics.ts";

/** Names come from clients, so there must be an end to them. */
const maxNames = 256;
const longestName = 64;
const longestPlace = 200;

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

  /** `requested`: as `Trace.unenforced` has it. */
  noteUnenforced(protocol: Protocol, requested: readonly string[]): void {
    for (const one of requested) {
      const [field = one] = one.split(/[ :]/u, 1);
      this.#metrics.ignored(protocol, `${field} unenforced`);
      const text = one.slice(0, longestPlace);
      if (this.#reported.has(text) || this.#reported.size >= maxNames) continue;
      this.#reported.add(text);
      this.#warn(
        `A request (${protocol}) asks for something that is not enforced while sampling, so responses may break it: ${text}. The traces of such calls name it (unenforced); it is reported only once.`,
      );
    }
  }

  /** `neededTokens`: as `Trace.neededTokens` has it. */
  noteExcluded(protocol: Protocol, neededTokens: number): void {
    this.#metrics.ignored(protocol, "max_tokens excludes");
    const key = `${protocol} max_tokens below ${neededTokens}`;
    if (this.#reported.has(key) || this.#reported.size >= maxNames) return;
    this.#reported.add(key);
    this.#warn(
      `A request (${protocol}) has too little room for some of what its format and tools allow, such as a tool call, so that is never sampled. It fits with max_tokens ${neededTokens} or more. The traces of such calls name it (neededTokens); it is reported only once.`,
    );
  }

  #note(protocol: Protocol, name: string): void {
    const key = `${protocol} ${name}`;
    const isKnown = this.#reported.has(key);
    const isCountable = name.length <= longestName && (isKnown || this.#reported.size < maxNames);
    this.#metrics.ignored(protocol, isCountable ? name : "other");
    if (isKnown || !isCountable) return;
    this.#reported.add(key);
    this.#warn(
      `Requests (${protocol}) have the field ${JSON.stringify(name)}, which has no effect here. It is ignored, and reported only once.`,
    );
  }
}
