import { expect, it } from "vitest";
import type { ChatMessage } from "../../core/message.ts";
import { chainMessages, Conversation, type ConversationNode } from "./conversation.ts";

const question: ChatMessage = { role: "user", content: "q" };
const next: ChatMessage = { role: "user", content: "next" };
const noTools = chainMessages([question], []);

function node(traceId: string, callId?: string): ConversationNode {
  const toolCalls =
    callId === undefined ? {} : { toolCalls: [{ id: callId, name: "f", arguments: "{}" }] };
  const response: ChatMessage = { role: "assistant", content: "a", ...toolCalls };
  return { traceId, trajectoryUid: null, response, tokens: new Int32Array(0) };
}

function matchOf(conversation: Conversation, response: ChatMessage): string | undefined {
  const messages = [question, response, next];
  return conversation.match(messages, chainMessages(messages, []), null)?.node.traceId;
}

it("tells answers of the same text apart by the ids of their tool calls", () => {
  const conversation = new Conversation();
  const nodes = [node("one", "call_1"), node("two", "call_2"), node("three", "call_3")];
  for (const each of nodes) conversation.add(noTools, each);
  expect(matchOf(conversation, nodes[1]?.response as ChatMessage)).toBe("two");
  expect(matchOf(conversation, nodes[2]?.response as ChatMessage)).toBe("three");
  expect(matchOf(conversation, nodes[2]?.response as ChatMessage)).toBe("three");
});

it("spreads parallel conversations of the same text over the calls that began them", () => {
  const conversation = new Conversation();
  const nodes = [node("one"), node("two")];
  for (const each of nodes) conversation.add(noTools, each);
  const { response } = node("any");
  const matched = [matchOf(conversation, response), matchOf(conversation, response)];
  expect(matched.sort()).toEqual(["one", "two"]);
});

it("needs a message that the earlier call has not seen", () => {
  const conversation = new Conversation();
  const { response } = node("one");
  conversation.add(noTools, node("one"));
  const messages = [question, response];
  expect(conversation.match(messages, chainMessages(messages, []), null)).toBeNull();
});

it("does not confuse where one field ends and the next begins", () => {
  const chains = [
    chainMessages(
      [
        { role: "user", content: "a" },
        { role: "user", content: "b" },
      ],
      [],
    ),
    chainMessages([{ role: "user", content: "ab" }], []),
    chainMessages([{ role: "tool", content: "a", toolCallId: "b" }], []),
    chainMessages([{ role: "user", content: "a" }], [{ name: "b" }]),
    chainMessages([{ role: "system", content: "a" }], []),
    // Half surrogate pairs, and text that looks like one that was escaped.
    chainMessages([{ role: "user", content: "\ud83d" }], []),
    chainMessages([{ role: "user", content: "\ude00" }], []),
    chainMessages([{ role: "user", content: "\ufffd" }], []),
    chainMessages([{ role: "user", content: String.raw`"\ud83d"` }], []),
  ].map((chain) => chain.at(-1));
  expect(new Set(chains).size).toBe(chains.length);
});
