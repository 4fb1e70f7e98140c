/** What `--model` names, for the commands that run an agent without training. */
import { ConfigError } from "../../core/errors.ts";
import type { ModelEndpoint } from "../../launch/evaluate/evaluation-options.ts";
import { type ChatEndpoint, isHttpUrl } from "../../http/chat-completion.ts";

/** A model that writes or judges, by `--model`, `--model-name` and `--key-env`. */
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

/** Environment variable that holds the API key of inference servers. */
export const workerKeyVariable = "AGENT_TRAINER_WORKER_API_KEY";

export interface EndpointFlags {
  readonly model?: string | undefined;
  /** The model as the endpoint names it. */
  readonly modelName?: string | undefined;
  /** Environment variable with the key of the endpoint. */
  readonly keyEnv?: string | undefined;
  /** Command that is the agent. */
  readonly command?: string | undefined;
}

/** Descriptions of these flags. */
export const endpointHelp: Readonly<Record<keyof EndpointFlags, string>> = {
  model:
    "URL of an OpenAI-compatible endpoint, run folder, checkpoint, or model name (default: model.name)",
  modelName: "model as the endpoint names it (default: what it lists first)",
  keyEnv: `environment variable with the key of the endpoint (default: ${workerKeyVariable})`,
  command: "command that is the agent; the same as agent_command.run=...",
};

function endpointKey({ keyEnv }: EndpointFlags): string | undefined {
  const key = process.env[keyEnv ?? workerKeyVariable] ?? "";
  if (key !== "") return key;
  if (keyEnv === undefined) return undefined;
  throw new ConfigError({
    message: `--key-env names the environment variable ${keyEnv}, which is not set.`,
    hint: "Set it to the key of the endpoint, or remove --key-env.",
    fields: { variable: keyEnv },
  });
}

/** @throws ConfigError for flags of an endpoint where there is none. */
export function evaluatedModel(flags: EndpointFlags): string | ModelEndpoint | undefined {
  const { model, modelName } = flags;
  if (model !== undefined && /^https?:\/\//iu.test(model)) {
    const apiKey = endpointKey(flags);
    return {
      url: model,
      ...(modelName === undefined ? {} : { name: modelName }),
      ...(apiKey === undefined ? {} : { apiKey }),
    };
  }
  const flag = modelName !== undefined ? "--model-name" : "--key-env";
  if (modelName !== undefined || flags.keyEnv !== undefined) {
    throw new ConfigError({
      message: `${flag} has no effect without the URL of an endpoint.`,
      hint: `Add --model https://HOST/v1, or remove ${flag}.`,
    });
  }
  return model;
}

/**
 * What --model and --command name takes the place of the file's model and agent, which may be missing then.
 */
export const flagOverrides = ({ model, command }: EndpointFlags): string[] => [
  ...(model === undefined ? [] : ["model.name=evaluated"]),
  ...(command === undefined ? [] : commandOverrides(command)),
];

/** What `--command` sets: it takes the place of the file's agent, and runs once for each rollout. */
export function commandOverrides(command: string): readonly string[] {
  return [
    "agent=null",
    "agent_command.serves=false",
    `agent_command.run=${JSON.stringify(command)}`,
  ];
}
