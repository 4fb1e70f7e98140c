/** An agent that looks up the weather of a city, as it is captured and as a reference. */
import type { ChatMessage } from "../../src/core/message.ts";
import type { Step } from "../../src/core/trajectory.ts";

const messages = (city: string): readonly ChatMessage[] => [
  { role: "system", content: "You are a weather service." },
  { role: "user", content: `What is the weather in ${city}?` },
  {
    role: "assistant",
    content: "",
    toolCalls: [{ id: "call_1", name: "get_weather", arguments: JSON.stringify({ city }) }],
  },
  { role: "tool", toolCallId: "call_1", content: "sunny" },
  { role: "assistant", content: "Sunny." },
];

/** A step whose call has all messages before the last one. */
export function callStep(city: string): Step {
  const all = messages(city);
  const trace = { messages: all.slice(0, -1), response: all.at(-1)! };
  return { trace } as unknown as Step;
}

/** The same messages in OpenAI's format. */
export const wireTrajectory = (city: string): readonly object[] => [
  { role: "system", content: "You are a weather service." },
  { role: "user", content: `What is the weather in ${city}?` },
  {
    role: "assistant",
    content: "",
    tool_calls: [
      {
        id: "call_1",
        type: "function",
        function: { name: "get_weather", arguments: JSON.stringify({ city }) },
      },
    ],
  },
  { role: "tool", tool_call_id: "call_1", content: "sunny" },
  { role: "assistant", content: "Sunny." },
];
