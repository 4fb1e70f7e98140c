/** What a benchmark is. */
import type { Result } from "./result.ts";

export interface BenchmarkOptions {
  /** Smaller sizes, to see that it works; not for numbers to be quoted. */
  readonly quick: boolean;
  /** Measured repetitions after a warm-up; what is reported is their median. */
  readonly repetitions: number;
  /** `demo`: seeds 1 to this one. */
  readonly seeds: number;
}

export interface Benchmark {
  readonly name: string;
  /** One line for the list. */
  readonly summary: string;
  /** Measured repetitions where nobody says. @default 3 */
  readonly repetitions?: number;
  /** A series of long stages that is run once, with what it takes in processor time beside it. */
  readonly isOnce?: true;
  /** Versions of what it compares with. @throws ConfigError when something is not installed. */
  peerVersions?(): Promise<Readonly<Record<string, string>>>;
  /** `log` takes lines about how far it is. */
  run(options: BenchmarkOptions, log: (line: string) => void): Promise<readonly Result[]>;
}
