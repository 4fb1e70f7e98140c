/** A rollout as JSON for other processes. The names are a contract: see docs/command-agents.md. */
import type { AgentConfig } from "../../../core/agent.ts";
import type { Task } from "../../../core/task.ts";
import { anthropicBaseUrl } from "./model-variables.ts";

/** The body of a rollout's request to an HTTP agent, and what a command reads from its input. */
export function wireRollout<Metadata>(task: Task<Metadata>, config: AgentConfig): string {
  return JSON.stringify({
    task,
    config: {
      base_url: config.baseUrl,
      anthropic_base_url: anthropicBaseUrl(config.baseUrl),
      api_key: config.apiKey,
      model: config.model,
      session_uid: config.sessionUid,
      is_validation: config.isValidation,
      sampling_params: config.samplingParams,
      metadata: config.metadata,
    },
  });
}
