/** Any server of OpenAI's protocol that tells no ids. */
import { readOpenAi } from "./chat-prompt.ts";
import type { UpstreamDialect } from "./adapter.ts";
import { openAiAnswer } from "./openai-response.ts";

export const openai: UpstreamDialect = {
  probe: (path, model) =>
    path === "/v1/models" ? { object: "list", data: [{ id: model }] } : undefined,
  read: readOpenAi,
  ...openAiAnswer({ ids: "none" }),
};
