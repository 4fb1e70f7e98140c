/**
 * Phi-3 (`<|role|>\ntext<|end|>\n`) and Phi-4-mini (`<|role|>text<|end|>`). Phi-4-mini's tools are a list in the
 * system turn, `<|tool|>[...]<|/tool|>`, and calls a list, `<|tool_call|>[...]<|/tool_call|>`; Phi-3 has no format
 * for tools, and Hermes' is used.
 */
import type { Renderer } from "../../core/policy.ts";
import type { TextTokenizer } from "../tokenizers/tokenizer.ts";
import { createRoleRenderer } from "./role-turns.ts";
import { markup, plain } from "./token-builder.ts";
import { pythonJson, writeExact } from "../../util/exact-json.ts";
import { toolJson } from "../../core/tool-json.ts";
import { writeJsonCall } from "./tool-formats/json-call.ts";
import { callsInList, listedCalls } from "./tool-formats/json-calls.ts";
import type { ToolFormat } from "./tool-formats/tool-format.ts";

/** Tools and calls as Phi-4-mini's model card has them: lists of JSON between tokens. */
const phiCallStart = "<|tool_call|>";
const phiCallEnd = "<|/tool_call|>";

const phiTools: ToolFormat = {
  describe: (tools) => [
    markup("<|tool|>"),
    plain(writeExact(tools.map(toolJson), pythonJson)),
    markup("<|/tool|>"),
  ],
  call: (name, argumentsText) => [plain(writeJsonCall(name, argumentsText))],
  list: { start: `${phiCallStart}[`, separator: ", ", end: `]${phiCallEnd}` },
  grammar: callsInList({
    start: phiCallStart,
    wrap: (calls) => [
      { type: "tag", text: phiCallStart },
      { type: "literal", text: "[" },
      calls,
      { type: "literal", text: "]" },
      { type: "tag", text: phiCallEnd },
    ],
  }),
  syntax: listedCalls(phiCallStart, phiCallEnd),
};

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
    tools: phiTools,
  });
}
