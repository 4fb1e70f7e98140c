/** What is compared: something that takes chat completions, over a mock of an inference server. */
import type { CallTarget } from "./load-child.ts";

/** What a server has kept of a call. */
export interface CapturedCall {
  readonly promptTokens: number;
  readonly sampledTokens: number;
}

export interface Contender {
  readonly name: string;
  readonly port: number;
  /** Of the server alone. */
  cpuMs(): number;
  residentMiB(): number;
  /** `count` sessions to send calls to; fewer where there are no sessions. */
  open(count: number): Promise<readonly CallTarget[]>;
  /** Resolves when everything captured is written. */
  settle(): Promise<void>;
  /** What was captured through this target; null where nothing is. */
  captured(target: CallTarget): Promise<readonly CapturedCall[] | null>;
  /** Forgets the sessions and their calls. */
  close(targets: readonly CallTarget[]): Promise<void>;
  stop(): Promise<void>;
}
