/** Which kinds of servers take prompts as token ids, and how. */
import type { WorkerKind } from "../../../../core/backend.ts";
import type { TokenAdapter } from "./adapter.ts";
import { llamacppTokens } from "./llamacpp-tokens.ts";
import { sglangTokens } from "./sglang-tokens.ts";
import { vllmTokens } from "./vllm-tokens.ts";

export const tokenAdapters: Readonly<Record<WorkerKind, TokenAdapter | null>> = {
  vllm: vllmTokens,
  sglang: sglangTokens,
  llamacpp: llamacppTokens,
  openai: null,
};
