/** The axis of clients. */
import type { Client } from "../client.ts";
import { agentsChat, agentsResponses } from "./agents.ts";
import { aiSdk, aiSdkResponses } from "./ai-sdk.ts";
import { anthropic } from "./anthropic.ts";
import { langchain } from "./langchain.ts";
import { openAiChat } from "./openai-chat.ts";
import { openAiReferredItems, openAiResponses, openAiStoredResponses } from "./openai-responses.ts";

export const clients: readonly Client[] = [
  openAiChat,
  openAiResponses,
  openAiStoredResponses,
  openAiReferredItems,
  anthropic,
  aiSdk,
  aiSdkResponses,
  langchain,
  agentsChat,
  agentsResponses,
];
