/** How a chat template takes the calls of an assistant: found by trying. */
import type { ChatMessage } from "../../../core/message.ts";
import { TemplateError } from "./language/errors.ts";
import type { Str } from "./language/str.ts";
import type { CallShape } from "./template-values.ts";

const called: readonly ChatMessage[] = [
  { role: "user", content: "Q" },
  {
    role: "assistant",
    content: "",
    toolCalls: [{ id: "call00001", name: "f", arguments: '{"k7": "v7"}' }],
  },
  { role: "tool", content: "R", toolCallId: "call00001", name: "f" },
];

/** As transformers' users send calls, then as OpenAI's clients do. */
const shapes: readonly [CallShape, ...CallShape[]] = [
  { argumentsAsText: false, noContent: false },
  { argumentsAsText: false, noContent: true },
  { argumentsAsText: true, noContent: false },
  { argumentsAsText: true, noContent: true },
];

/** The first with which the arguments are written, and not as Python's text for an object. */
export function findCallShape(
  write: (messages: readonly ChatMessage[], shape: CallShape) => Str,
): CallShape {
  const writesArguments = (messages: readonly ChatMessage[], shape: CallShape): boolean => {
    try {
      const { text } = write(messages, shape);
      return text.includes("k7") && !text.includes("{'k7'");
    } catch (error) {
      if (error instanceof TemplateError) return false;
      throw error;
    }
  };
  const found = shapes.find(
    (shape) => writesArguments(called, shape) || writesArguments(called.slice(0, 2), shape),
  );
  return found ?? shapes[0];
}
