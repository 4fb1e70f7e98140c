/** What a Tinker server is made of. */
import type { PrecisionOption } from "../core/precision.ts";
import type { Renderer } from "../core/policy.ts";

export const defaultMaxModels = 32;
export const defaultMaxBodyMiB = 64;

export interface TinkerServerOptions {
  /** A model folder in Hugging Face layout, or a `.gguf` file. */
  readonly modelPath: string;
  /** Name that clients request. @default `modelPath` */
  readonly modelName?: string;
  /** Where clients find the tokenizer: a folder or a hub id. @default `modelPath` */
  readonly tokenizer?: string;
  /** Of the model's family: decodes text for stop strings. */
  readonly renderer: Renderer;
  /** Folder of training runs and checkpoints; made when missing. */
  readonly folder: string;
  /** What clients must send as `X-API-Key`; null accepts every client. */
  readonly token: string | null;
  /** Threads inside one operation. @default half of the processors, at least 2 */
  readonly threads?: number;
  /** What matrix products are computed in; `auto` is bf16 where the processor has instructions for it. @default "auto" */
  readonly precision?: PrecisionOption;
  /** For the activations of one training micro-batch, in MiB. @default 1536 */
  readonly memoryMiB?: number;
  /** Highest rank of an adapter. @default 256 */
  readonly maxRank?: number;
  /** Models that may be loaded at the same time, at least 1. @default 32 */
  readonly maxModels?: number;
  /** Largest body of a request, in MiB; above 0. @default 64 */
  readonly maxBodyMiB?: number;
  /** Samplers that keep their weights in memory; of others, those of checkpoints are read again. @default 32 */
  readonly maxSamplers?: number;
  /** How long a request for a result waits before the client has to poll again. @default 20_000 */
  readonly pollMs?: number;
  /** A session without a heartbeat for so long ends, and its models with it. @default 600_000 */
  readonly sessionTimeoutMs?: number;
  /**
   * Longest wait for a sequence number that was skipped. Clients send one request after the other, so
   * that mostly it never comes: they refused it themselves. @default 10_000
   */
  readonly gapMs?: number;
}
