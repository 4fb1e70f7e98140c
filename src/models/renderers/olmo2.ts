/**
 * OLMo 2: `<|role|>\ntext\n`, an assistant's turn ends with `<|endoftext|>`, which also begins a conversation. The
 * headers are text, not tokens. There is no format for tools; Hermes' is used.
 */
import type { Renderer } from "../../core/policy.ts";
import type { TextTokenizer } from "../tokenizers/tokenizer.ts";
import { createRoleRenderer } from "./role-turns.ts";

const end = "<|endoftext|>";

export function createOlmo2Renderer(tokenizer: TextTokenizer): Renderer {
  return createRoleRenderer(tokenizer, {
    family: "olmo2",
    start: end,
    header: (role) => `<|${role}|>\n`,
    end,
    otherEnd: "",
    otherStops: [],
    separator: "\n",
    system: "turn",
  });
}
