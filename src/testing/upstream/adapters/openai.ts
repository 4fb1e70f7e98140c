/** Any server of OpenAI's protocol that reports no ids. */
import { readOpenAi } from "./chat-prompt.ts";
import type { UpstreamAdapter } from "./adapter.ts";
import { openAiResponse } from "./openai-response.ts";

export const openai: UpstreamAdapter = {
  probe: (path, model) =>
    path === "/v1/models" ? { object: "list", data: [{ id: model }] } : undefined,
  read: readOpenAi,
  ...openAiResponse({ ids: "none" }),
};
