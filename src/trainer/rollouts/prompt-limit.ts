/**
 * A limit on prompts that is the run's own, under the model's context window: the renderer refuses what
 * is longer, so every way into the gateway that renders here has it.
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
 * The target under that limit; null is none.
 * @throws ConfigError where the server renders prompts itself, so that nobody here sees their length.
 */
export function withPromptLimit(target: InferenceTarget, most: number | null): InferenceTarget {
  if (most === null) return target;
  if (target.renderer === undefined || (target.kind === "http" && target.tokenMode === "server")) {
    throw new ConfigError({
      message: `${option}=${most} cannot be honoured: the inference server renders prompts itself.`,
      hint: "Leave it out, or use a backend that knows the model's chat template.",
      fields: { option, most },
    });
  }
  return { ...target, renderer: limitPrompts(target.renderer, most) };
}
