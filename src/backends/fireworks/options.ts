/** Options of the `fireworks` backend. */
import type { FireworksClientOptions } from "./api/client-options.ts";

/** Options of the `fireworks` backend: the account, the model's tokenizer, and what is trained. */
export interface FireworksBackendOptions {
  /** Root of the API. @default FIREWORKS_BASE_URL, or the hosted service */
  readonly baseUrl?: string;
  /** A key with the training scope. @default FIREWORKS_API_KEY */
  readonly apiKey?: string;
  /** Account that pays. @default the only one that the key can see */
  readonly account?: string;
  /**
   * Location of the model's tokenizer and chat template: a folder, or `OWNER/NAME` on a hub, from which
   * only these files are downloaded. Fireworks does not report it. @default the model's name
   */
  readonly tokenizer?: string;
  /** Maximum length of prompt and completion, in tokens. Required, since Fireworks does not report it. */
  readonly contextLength?: number;
  /** Whether the adapter covers the attention. @default true */
  readonly trainAttention?: boolean;
  /** Whether the adapter covers the MLP. @default true */
  readonly trainMlp?: boolean;
  /** Whether the adapter covers the output head. @default true */
  readonly trainUnembed?: boolean;
  /** Name of a model of the account that the last checkpoint becomes at the end. @default none */
  readonly outputModel?: string;
  /** Called on retries, and with what could not be deleted. @default none */
  readonly onWarning?: (message: string) => void;
  /** Further options of the client: deadlines, `fetch`. */
  readonly client?: Omit<FireworksClientOptions, "account" | "apiKey" | "baseUrl" | "onWarning">;
}
