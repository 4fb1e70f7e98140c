/**
 * A file as the OpenTelemetry collector's file exporter writes it: traces of five spans, an agent that calls a model,
 * two tools and the model again, with what was said.
 */
import { closeSync, openSync, writeSync } from "node:fs";
import { createRandom } from "../../src/util/random.ts";

const words =
  "order shoes return size color price refund late parcel street please thanks where when small large red blue".split(
    " ",
  );
const tracesOfLine = 40;
export const spansOfTrace = 5;

export function writeTraces(file: string, traces: number): void {
  const random = createRandom(1);
  const text = (length: number): string =>
    Array.from({ length }, () => words[Math.floor(random() * words.length)]).join(" ");
  const id = (n: number, length: number): string => n.toString(16).padStart(length, "0");
  const attribute = (key: string, value: unknown): object => ({
    key,
    value: { stringValue: typeof value === "string" ? value : JSON.stringify(value) },
  });
  const traceOf = (n: number): object[] => {
    const asked = [
      { role: "system", parts: [{ type: "text", content: text(60) }] },
      { role: "user", parts: [{ type: "text", content: `${text(20)} ${n}` }] },
    ];
    const tools = ["a", "b"].map((call) => ({
      type: "tool_call",
      id: call,
      name: "look",
      arguments: { order: text(2) },
    }));
    const called = { role: "assistant", parts: tools };
    const results = ["a", "b"].map((call) => ({
      role: "tool",
      parts: [{ type: "tool_call_response", id: call, response: text(15) }],
    }));
    const answer = { role: "assistant", parts: [{ type: "text", content: text(25) }] };
    const call = (input: readonly object[], output: object): object[] => [
      attribute("gen_ai.operation.name", "chat"),
      attribute("gen_ai.request.model", "m"),
      attribute("gen_ai.input.messages", input),
      attribute("gen_ai.output.messages", [output]),
    ];
    const tool = [
      attribute("gen_ai.operation.name", "execute_tool"),
      attribute("gen_ai.tool.name", "look"),
    ];
    const agent = [
      attribute("gen_ai.operation.name", "invoke_agent"),
      attribute("user.id", `user${n % 5000}`),
    ];
    return [
      agent,
      call(asked, called),
      tool,
      tool,
      call([...asked, called, ...results], answer),
    ].map((attributes, k) => ({
      traceId: id(n + 1, 32),
      spanId: id(k + 1, 16),
      ...(k === 0 ? {} : { parentSpanId: id(1, 16) }),
      name: "span",
      startTimeUnixNano: `${1_700_000_000_000 + n * 1000 + k}000000`,
      endTimeUnixNano: `${1_700_000_000_500 + n * 1000 + k}000000`,
      attributes,
    }));
  };
  const handle = openSync(file, "w");
  for (let first = 0; first < traces; first += tracesOfLine) {
    const count = Math.min(tracesOfLine, traces - first);
    const spans = Array.from({ length: count }, (_, k) => traceOf(first + k)).flat();
    writeSync(handle, `${JSON.stringify({ resourceSpans: [{ scopeSpans: [{ spans }] }] })}\n`);
  }
  closeSync(handle);
}
