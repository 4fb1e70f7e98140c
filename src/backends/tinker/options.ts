/** Options of the `tinker` backend. */
import type { TinkerClientOptions } from "../../tinker-api/client-options.ts";

export interface TinkerBackendOptions {
  /** Hosted or self-hosted. @default TINKER_BASE_URL, or the hosted service */
  readonly baseUrl?: string;
  /** @default TINKER_API_KEY */
  readonly apiKey?: string;
  /** Folder with the model's tokenizer and chat template. @default the model's name, or where the server says, if that is a folder here */
  readonly tokenizer?: string;
  /** Longest prompt + completion in tokens. @default what the server tells */
  readonly contextLength?: number;
  /** Seconds after which the server may delete a checkpoint; null: never. @default null */
  readonly checkpointTtlSeconds?: number | null;
  /** Told of retries and of what the probes found. @default nothing */
  readonly onNotice?: (notice: string) => void;
  /** Further options of the client: deadlines, encoding, `fetch`. */
  readonly client?: Omit<TinkerClientOptions, "baseUrl" | "apiKey" | "onNotice">;
}
