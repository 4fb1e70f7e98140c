/** The calls that are measured. */

export interface CallSize {
  readonly name: string;
  readonly promptTokens: number;
  readonly sampledTokens: number;
}

export const shortCall: CallSize = {
  name: "512 + 128 tokens",
  promptTokens: 512,
  sampledTokens: 128,
};
export const longCall: CallSize = {
  name: "16k + 128 tokens",
  promptTokens: 16_384,
  sampledTokens: 128,
};

/** What asks the mock to take its time: a limit of tokens that every gateway passes on. */
export const pacedMaxTokens = 1023;
/** What a model server takes for an answer of this size, roughly, when it is not idle. */
export const pacedMs = 250;

/** Request bodies are about four bytes a token, so their size tells the mock which call it is. */
export const longBodyBytes = 16_384;
