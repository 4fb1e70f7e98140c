/** Digits and the order of keys of tools and earlier calls, as Python's templates write them. */
import { describe, expect, it } from "vitest";
import type { ChatMessage, ToolDefinition } from "../../src/core/message.ts";
import { loadModel } from "./completion-world.ts";

const parametersText =
  '{"type":"object","properties":{"b":{"minimum":0.0,"maximum":1e-7},"10":{"const":12345678901234567890},"2":{"default":-0.0,"enum":[1.50,1E5]}}}';
const tool: ToolDefinition = {
  name: "f",
  description: "é",
  parameters: JSON.parse(parametersText) as NonNullable<ToolDefinition["parameters"]>,
  parametersText,
};
const question: ChatMessage = { role: "user", content: "Q" };

describe("tools", () => {
  // What `json.dumps(json.loads(text), ensure_ascii=False)` gives.
  const line =
    '"description": "é", "parameters": {"type": "object", "properties": {"b": {"minimum": 0.0, "maximum": 1e-07}, ' +
    '"10": {"const": 12345678901234567890}, "2": {"default": -0.0, "enum": [1.5, 100000.0]}}}';
  it.each(["qwen2_5", "qwen3", "gemma-3", "phi-4-mini", "mistral-nemo"])("of %s", (model) => {
    const { renderer } = loadModel(model);
    const prompt = renderer.inspect!(renderer.render([question], { tools: [tool] }).tokens);
    expect(prompt).toContain(line);
    expect(prompt).not.toContain("parametersText");
  });

  it("of llama3_2, indented", () => {
    const { renderer } = loadModel("llama3_2");
    const prompt = renderer.inspect!(renderer.render([question], { tools: [tool] }).tokens);
    // `json.dumps(..., indent=4)`
    expect(prompt).toContain(
      `{
    "type": "function",
    "function": {
        "name": "f",
        "description": "é",
        "parameters": {
            "type": "object",
            "properties": {
                "b": {
                    "minimum": 0.0,
                    "maximum": 1e-07
                },
                "10": {
                    "const": 12345678901234567890
                },
                "2": {
                    "default": -0.0,
                    "enum": [
                        1.5,
                        100000.0
                    ]
                }
            }
        }
    }
}

`,
    );
  });
});

describe("earlier calls", () => {
  it.each([
    ["", "{}"],
    [" \n", "{}"],
    ["null", "{}"],
    ["{}", "{}"],
    ['{"b":1.0,"10":1e-07,"2":9007199254740993}', '{"b": 1.0, "10": 1e-07, "2": 9007199254740993}'],
    ['{"a":"\\u00e9\\/ , : {"}', '{"a": "é/ , : {"}'],
    ["[1,2]", "[1, 2]"],
  ])("%j", (given, written) => {
    const messages: ChatMessage[] = [
      question,
      { role: "assistant", content: "", toolCalls: [{ id: "c", name: "f", arguments: given }] },
      { role: "tool", content: "r", toolCallId: "c" },
    ];
    for (const model of ["qwen2_5", "qwen3", "llama3_2", "gemma-3", "phi-4-mini", "mistral-nemo"]) {
      const { renderer } = loadModel(model);
      const key = model === "llama3_2" ? "parameters" : "arguments";
      const prompt = renderer.inspect!(
        renderer.render(messages, { tools: [{ name: "f" }] }).tokens,
      );
      expect(prompt).toContain(`"${key}": ${written}${model === "mistral-nemo" ? ", " : "}"}`);
    }
  });
});
