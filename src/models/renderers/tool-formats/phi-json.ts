/** Tools and calls as Phi-4-mini's model card has them: lists of JSON between tokens. */
import { spacedJson } from "../json-text.ts";
import { markup, plain } from "../token-builder.ts";
import { callsInList, parseJsonCalls, writeJsonCall } from "./json-calls.ts";
import type { ToolFormat } from "./tool-format.ts";

export const phiCallStart = "<|tool_call|>";
export const phiCallEnd = "<|/tool_call|>";

export const phiTools: ToolFormat = {
  describe: (tools) => [
    markup("<|tool|>"),
    plain(spacedJson(JSON.stringify(tools)) ?? ""),
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
  parse: (text) => parseJsonCalls(text, phiCallStart, phiCallEnd),
};
