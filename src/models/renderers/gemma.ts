/**
 * Gemma 3: `<start_of_turn>role\ntext<end_of_turn>\n`. There is no system role: its text is before the first
 * question. There is no format for tools either; Hermes' is used.
 */
import type { Renderer } from "../../core/policy.ts";
import type { TextTokenizer } from "../tokenizers/tokenizer.ts";
import { createRoleRenderer } from "./role-turns.ts";

export function createGemmaRenderer(tokenizer: TextTokenizer): Renderer {
  return createRoleRenderer(tokenizer, {
    family: "gemma",
    start: "<bos>",
    header: (role) => `<start_of_turn>${role === "assistant" ? "model" : role}\n`,
    end: "<end_of_turn>",
    otherStops: ["<eos>"],
    separator: "\n",
    system: "question",
    trims: true,
  });
}
