/** A limit on prompts below the model's context window, whichever way a prompt was given. */
import { AgentTrainerError } from "../../core/errors.ts";

/** Prompts of more tokens are refused as too long for the context. */
export interface PromptLimit {
  /** Most tokens of a prompt, at least 1. */
  readonly tokens: number;
  /** Name of the option that says so, for the message. */
  readonly option: string;
}

/** @throws AgentTrainerError (`CONTEXT_OVERFLOW`) */
export function checkPrompt(promptTokens: number, { tokens: most, option }: PromptLimit): void {
  if (promptTokens <= most) return;
  throw new AgentTrainerError({
    code: "CONTEXT_OVERFLOW",
    message: `The prompt has ${promptTokens} tokens, but ${option} allows ${most}.`,
    hint: `Shorten the conversation, or raise ${option}.`,
    fields: { promptTokens, option, most },
  });
}
