/**
 * Calls that Claude Code, Codex, OpenCode and Pi make next to their task, by the name of the model, the system
 * prompt, the tools and the prefix. Guesses: another agent's own work may read the same.
 */
import type { ChatMessage } from "../../../core/message.ts";
import { messageText } from "../../../core/message-text.ts";
import type { SideCallRule } from "../../../core/side-call.ts";
import type { Trace } from "../../../core/trace.ts";

const text = ({ content }: ChatMessage): string => messageText(content);

const edge = 2000;

/** Beginnings of the system prompt and of the last message: long histories are not searched. */
function requestText({ messages }: Trace): string {
  const system = messages.filter(({ role }) => role === "system").map(text);
  const last = messages.at(-1);
  return [...system, last === undefined || last.role !== "user" ? "" : text(last)]
    .map((part) => part.slice(0, edge))
    .join("\n");
}

const isAgentic = ({ tools }: Trace): boolean => tools.length > 0;

const title =
  /\b(?:generate|write|create|suggest|come up with|extract|analyze if)\b[^.\n]{0,80}\b(?:title|topic|thread name|conversation name|session name)\b|\btitle generator\b/i;
const summary =
  /\b(?:summari[sz]e|compact|condense|detailed summary of)\b[^.\n]{0,60}\b(?:conversation|chat|session|history|transcript|context|so far)\b|\bcontext checkpoint\b/i;
const suggestion =
  /\b(?:suggest|predict)\b[^.\n]{0,60}\b(?:next|follow-?up)\b[^.\n]{0,40}\b(?:prompt|question|message|input|type)/i;
const small = /\b(?:haiku|mini|nano|flash|lite|small)\b|-(?:mini|nano|lite)\b/i;

const rules: readonly Omit<SideCallRule, "isGuess">[] = [
  {
    name: "quota",
    matches: ({ sampling, messages, tools }) =>
      sampling.maxTokens === 1 && tools.length === 0 && messages.length <= 2,
  },
  { name: "title", matches: (call) => !isAgentic(call) && title.test(requestText(call)) },
  { name: "summary", matches: (call) => summary.test(requestText(call)) },
  { name: "suggestion", matches: (call) => suggestion.test(requestText(call)) },
  {
    name: "small-model",
    matches: (call, calls) =>
      !isAgentic(call) &&
      small.test(call.model) &&
      calls.some(
        (other) => isAgentic(other) && other.model !== call.model && !small.test(other.model),
      ),
  },
  {
    // Another conversation, begun after the first one, by a loop with its own tools and instructions.
    name: "sub-agent",
    matches(call, calls) {
      const main = calls.find(isAgentic);
      if (main === undefined || !isAgentic(call) || !offersSubAgents(main)) return false;
      const names = (trace: Trace): string => trace.tools.map(({ name }) => name).join();
      return instructions(call) !== instructions(main) && names(call) !== names(main);
    },
  },
];

const instructions = ({ messages }: Trace): string =>
  messages
    .filter(({ role }) => role === "system")
    .map(text)
    .join("\n");

/** Tools by which command-line agents start sub-agents. */
const offersSubAgents = ({ tools }: Trace): boolean =>
  tools.some(({ name }) => /^(?:task|agent|dispatch_agent|spawn_agent|subagent)$/i.test(name));

/**
 * What `claudeCode`, `codex`, `opencode` and `pi` recognize as side calls, in the order of the rules;
 * for agents that start one of these tools themselves.
 *
 * @example
 * const agentFlow: AgentFlow = {
 *   sideCalls: toolSideCalls,
 *   run: async (task, config) => await runClaudeAgentSdk(task, config),
 * };
 */
export const toolSideCalls: readonly SideCallRule[] = rules.map((rule) => ({
  ...rule,
  isGuess: true,
}));
