/**
 * Phi-3 (`<|role|>\ntext<|end|>\n`) and Phi-4-mini (`<|role|>text<|end|>`). Phi-4-mini's tools are a list in the
 * system turn, `<|tool|>[...]<|/tool|>`, and calls a list, `<|tool_call|>[...]<|/tool_call|>`; Phi-3 has no format
 * for tools, and Hermes' is used.
 */
import type { Renderer } from "../../core/policy.ts";
import type { TextTokenizer } from "../tokenizers/tokenizer.ts";
import { createRoleRenderer } from "./role-turns.ts";
import { phiCallEnd, phiCallStart, phiTools } from "./tool-formats/phi-json.ts";

export interface PhiOptions {
  /** What begins a conversation. @default nothing */
  readonly start?: string;
}

const shared = {
  family: "phi",
  end: "<|end|>",
  otherStops: ["<|endoftext|>"],
  system: "turn",
} as const;

export function createPhi3Renderer(
  tokenizer: TextTokenizer,
  { start = "" }: PhiOptions = {},
): Renderer {
  return createRoleRenderer(tokenizer, {
    ...shared,
    start,
    header: (role) => `<|${role}|>\n`,
    separator: "\n",
  });
}

export function createPhi4MiniRenderer(tokenizer: TextTokenizer): Renderer {
  return createRoleRenderer(tokenizer, {
    ...shared,
    start: "",
    header: (role) => `<|${role}|>`,
    separator: "",
    tools: { format: phiTools, shown: [phiCallStart, phiCallEnd] },
  });
}
