/** vLLM 0.20. */
import { readOpenAi } from "./chat-prompt.ts";
import type { UpstreamAdapter } from "./adapter.ts";
import { openAiResponse } from "./openai-response.ts";

export const vllm: UpstreamAdapter = {
  probe: (path, model, contextLength) => {
    if (path === "/version") return { version: "0.20.2" };
    if (path === "/health") return {};
    if (path !== "/v1/models") return undefined;
    return { object: "list", data: [{ id: model, max_model_len: contextLength }] };
  },
  read: readOpenAi,
  ...openAiResponse({ ids: "choice" }),
};
