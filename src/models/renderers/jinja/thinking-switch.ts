/** The variable by which a chat template turns reasoning on and off. */
import type { ChatMessage } from "../../../core/message.ts";
import type { TemplateVariables } from "./jinja-template.ts";
import type { Str } from "./language/str.ts";

type Switch = (thinking: boolean) => TemplateVariables;

/** Names that published templates use, the most common first. */
const switches: readonly Switch[] = [
  (enable_thinking) => ({ enable_thinking }),
  (thinking) => ({ thinking }),
  (thinking) => ({ thinking_option: thinking ? "on" : "off" }),
  (thinking) => ({ reasoning_mode: thinking ? "/think" : "/no_think" }),
];

const question: ChatMessage = { role: "user", content: "Q" };
const conversations: readonly (readonly ChatMessage[])[] = [
  [question],
  [{ role: "system", content: "S" }, question],
];

/**
 * Found by rendering both ways; null for a template that has none.
 * @param write null where the template refuses the messages
 */
export function thinkingSwitch(
  write: (
    messages: readonly ChatMessage[],
    more: { readonly open: boolean; readonly variables: TemplateVariables },
  ) => Str | null,
): Switch | null {
  return (
    switches.find((choose) =>
      conversations.some((messages) => {
        const [off, on] = [false, true].map((thinking) =>
          write(messages, { open: true, variables: choose(thinking) }),
        );
        return off != null && on != null && off.text !== on.text;
      }),
    ) ?? null
  );
}
