/** Environment variables by which clients of other languages find the model of a rollout. */
import type { AgentConfig } from "../../../core/agent.ts";

/** The base URL for clients of Anthropic, which add `/v1` themselves. */
export const anthropicBaseUrl = (baseUrl: string): string => baseUrl.replace(/\/v1\/?$/u, "");

/** What of a rollout's configuration other processes learn. */
export type ModelEndpoint = Pick<AgentConfig, "baseUrl" | "apiKey" | "model">;

/**
 * `OPENAI_API_BASE` as well, since LangChain prefers it silently. Tracing and telemetry are off: they would
 * report each rollout to another server.
 */
export function modelVariables({
  baseUrl,
  apiKey,
  model,
}: ModelEndpoint): Readonly<Record<string, string>> {
  return {
    OPENAI_BASE_URL: baseUrl,
    OPENAI_API_BASE: baseUrl,
    OPENAI_API_KEY: apiKey,
    OPENAI_MODEL: model,
    ANTHROPIC_BASE_URL: anthropicBaseUrl(baseUrl),
    ANTHROPIC_API_KEY: apiKey,
    ANTHROPIC_AUTH_TOKEN: apiKey,
    ANTHROPIC_MODEL: model,
    ANTHROPIC_SMALL_FAST_MODEL: model,
    ANTHROPIC_DEFAULT_HAIKU_MODEL: model,
    AGENT_TRAINER_MODEL: model,
    ...quietVariables,
  };
}

/** Turns off what libraries and tools report to others. */
export const quietVariables: Readonly<Record<string, string>> = {
  DO_NOT_TRACK: "1",
  DISABLE_TELEMETRY: "1",
  OPENAI_AGENTS_DISABLE_TRACING: "1",
  LANGSMITH_TRACING: "false",
  LANGCHAIN_TRACING_V2: "false",
  OTEL_SDK_DISABLED: "true",
};
