/** What answers in a chat: a model, or an agent on it. */

export interface Speaker extends AsyncDisposable {
  /** How its answers are headed. */
  readonly name: string;
  /** The parts of a response, as they come. Once the last one was taken, it is part of the conversation. */
  respond(request: string, signal: AbortSignal): AsyncIterable<string>;
  /** Forgets the conversation. */
  reset(): void;
}

export interface ChatOptions {
  readonly system?: string | undefined;
  readonly temperature?: number | undefined;
  readonly maxTokens?: number | undefined;
}
