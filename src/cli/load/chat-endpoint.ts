/** A model that writes or judges, by `--model`, `--model-name` and `--key-env`. */
import { ConfigError } from "../../core/errors.ts";
import { type ChatEndpoint, isHttpUrl } from "../../http/chat-completion.ts";
import { type EndpointFlags, endpointKey } from "./evaluated-model.ts";

export const chatHelp = {
  model: "URL of an OpenAI-compatible endpoint, up to and including /v1",
  modelName: "model as the endpoint names it",
} as const;

/** null without --model. @throws ConfigError for a flag that lacks another, or a key that is not set */
export function chatEndpoint(flags: EndpointFlags): ChatEndpoint | null {
  const { model, modelName, keyEnv } = flags;
  if (model === undefined && modelName === undefined && keyEnv === undefined) return null;
  if (model === undefined || modelName === undefined || !isHttpUrl(model)) {
    throw new ConfigError({
      message: `--model is ${model ?? "missing"} and --model-name is ${modelName ?? "missing"}: the model that is asked is named by both, an HTTP URL and a name.`,
      hint: "For example: --model https://api.openai.com/v1 --model-name gpt-5-mini --key-env OPENAI_API_KEY",
      fields: { model, modelName },
    });
  }
  return { baseUrl: model, model: modelName, apiKey: endpointKey(flags) };
}
