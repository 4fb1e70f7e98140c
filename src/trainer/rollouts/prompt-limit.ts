/**
 * The run's own limit on prompts, below the model's context window: the renderer refuses longer
 * prompts, so every API of the gateway that renders here enforces it.
 */
import type { InferenceTarget } from "../../core/backend.ts";
import { AgentTrainerError, ConfigError } from "../../core/errors.ts";
import type { RenderedPrompt, Renderer } from "../../core/policy.ts";

const option = "data.max_prompt_length";

function checked(prompt: RenderedPrompt, most: number): RenderedPrompt {
  const { length } = prompt.tokens;
  if (length <= most) return prompt;
  throw new AgentTrainerError({
    code: "CONTEXT_OVERFLOW",
    message: `The prompt has ${length} tokens, but ${option} allows ${most}.`,
    hint: `Shorten the conversation, or raise ${option}.`,
    fields: { promptTokens: length, maxPromptLength: most },
  });
}

/** The same renderer, which throws CONTEXT_OVERFLOW for prompts of more than `most` tokens. */
export function limitPrompts(renderer: Renderer, most: number): Renderer {
  const limited: Renderer = {
    family: renderer.family,
    stop: renderer.stop,
    render: (...request) => checked(renderer.render(...request), most),
    extend(...request) {
      const prompt = renderer.extend(...request);
      return prompt === null ? null : checked(prompt, most);
    },
    parse: (tokens) => renderer.parse(tokens),
    decode: (tokens) => renderer.decode(tokens),
  };
  if (renderer.encode === undefined) return limited;
  return { ...limited, encode: (text) => renderer.encode?.(text) ?? new Int32Array(0) };
}

/**
 * The target with that limit; null means no limit.
 * @throws ConfigError when the server renders prompts itself, so that their length is unknown here.
 */
export function withPromptLimit(target: InferenceTarget, most: number | null): InferenceTarget {
  if (most === null) return target;
  if (target.renderer === undefined || (target.kind === "http" && target.tokenMode === "server")) {
    throw new ConfigError({
      message: `${option}=${most} is not supported by this backend: its inference server renders prompts itself.`,
      hint: "Remove the option, or use a backend that has the model's chat template.",
      fields: { option, most },
    });
  }
  return { ...target, renderer: limitPrompts(target.renderer, most) };
}
