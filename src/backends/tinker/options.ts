/** Options of the `tinker` backend. */
import type { TinkerClientOptions } from "../../tinker-api/client-options.ts";

/** Options of the `tinker` backend: the server, and what it may not say about its model. */
export interface TinkerBackendOptions {
  /** URL of the server, hosted or self-hosted. @default TINKER_BASE_URL, or the hosted service */
  readonly baseUrl?: string;
  /** API key. @default TINKER_API_KEY */
  readonly apiKey?: string;
  /**
   * Location of the model's tokenizer and chat template: a folder, or `OWNER/NAME` on a hub, from
   * which only these files are downloaded.
   * @default the model's name, or what the server reports
   */
  readonly tokenizer?: string;
  /** Maximum length of prompt and completion, in tokens. @default what the server reports */
  readonly contextLength?: number;
  /** Seconds after which the server may delete a checkpoint; null: never. @default null */
  readonly checkpointTtlSeconds?: number | null;
  /** Called on retries and with the findings of the probes. @default none */
  readonly onWarning?: (notice: string) => void;
  /** Further options of the client: deadlines, encoding, `fetch`. */
  readonly client?: Omit<TinkerClientOptions, "baseUrl" | "apiKey" | "onNotice">;
}
