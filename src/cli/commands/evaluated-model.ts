/** What `--model` names, for the commands that run an agent without training. */
import { ConfigError } from "../../core/errors.ts";
import type { ModelEndpoint } from "../../launch/evaluate/evaluation-options.ts";
import { commandOverrides } from "../terminal/command-overrides.ts";
import { workerKeyVariable } from "./gateway-source.ts";

export interface EndpointFlags {
  readonly model?: string;
  /** The model as the endpoint names it. */
  readonly modelName?: string;
  /** Environment variable with the key of the endpoint. */
  readonly keyEnv?: string;
  /** Command that is the agent. */
  readonly command?: string;
}

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
  if (model !== undefined && /^(?:anthropic:)?https?:\/\//iu.test(model)) {
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
