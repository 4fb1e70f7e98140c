/** Options of the `tinker` backend. */
import type { TinkerClientOptions } from "../../tinker-api/client-options.ts";

export interface TinkerBackendOptions {
  /** Hosted or self-hosted. @default TINKER_BASE_URL, or the hosted service */
  readonly baseUrl?: string;
  /** @default TINKER_API_KEY */
  readonly apiKey?: string;
  /**
   * Where the model's tokenizer and chat template are: a folder, or `OWNER/NAME` on a hub, from which
   * only these files are fetched. @default the model's name, or what the server says
   */
  readonly tokenizer?: string;
  /** Longest prompt + completion in tokens. @default what the server tells */
  readonly contextLength?: number;
  /** Seconds after which the server may delete a checkpoint; null: never. @default null */
  readonly checkpointTtlSeconds?: number | null;
  /** Told of retries and of what the probes found. @default nothing */
  readonly onWarning?: (notice: string) => void;
  /** Further options of the client: deadlines, encoding, `fetch`. */
  readonly client?: Omit<TinkerClientOptions, "baseUrl" | "apiKey" | "onNotice">;
}
