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
  /**
   * Whether a snapshot keeps its weights while training continues. `probe` checks that at the first weight
   * sync whose optimizer step changed something, with two scored prompts of 16 tokens, and refuses a server
   * whose snapshots follow the trained weights. `frozen` trusts the server. `live` trains on a server whose
   * snapshots do follow: synchronously only, and never while samples are in flight.
   * @default "probe"
   */
  readonly snapshots?: "probe" | "frozen" | "live";
  /** Called on retries and with the findings of the probes. @default none */
  readonly onWarning?: (notice: string) => void;
  /** Further options of the client: deadlines, encoding, `fetch`. */
  readonly client?: Omit<TinkerClientOptions, "baseUrl" | "apiKey" | "onNotice">;
}
