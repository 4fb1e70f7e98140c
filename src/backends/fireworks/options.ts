/** Options of the `fireworks` backend. */
import type { DedicatedOptions } from "./dedicated/dedicated-options.ts";
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
  /**
   * Maximum length of prompt and completion, in tokens. Required for serverless training, which does not
   * report it. @default that of the training shape
   */
  readonly contextLength?: number;
  /** Whether the adapter covers the attention. @default true */
  readonly trainAttention?: boolean;
  /** Whether the adapter covers the MLP. @default true */
  readonly trainMlp?: boolean;
  /** Whether the adapter covers the output head. @default true */
  readonly trainUnembed?: boolean;
  /** Name of a model of the account that the last checkpoint becomes at the end. @default none */
  readonly outputModel?: string;
  /** A trainer and a deployment for this run alone, paid by the hour. @default none: serverless training */
  readonly dedicated?: DedicatedOptions;
  /** Called with what is created, waited for and deleted. @default none */
  readonly onProgress?: (message: string) => void;
  /** Called on retries, and with what could not be deleted. @default none */
  readonly onWarning?: (message: string) => void;
  /** Further options of the client: deadlines, `fetch`. */
  readonly client?: Omit<FireworksClientOptions, "account" | "apiKey" | "baseUrl" | "onWarning">;
}
