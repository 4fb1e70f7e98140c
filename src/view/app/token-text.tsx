/** A response as its tokens, each coloured by a number that is known of it. */
import type { TokenView } from "../api/conversation.ts";
import { shortNumber } from "./format.ts";
import { LongText } from "./message-text.tsx";
import { useRead } from "./read.ts";
import { quantitiesOf, quantityNamed } from "./token-quantities.ts";

/** Tokens that are shown; more would make the page slow. */
const maxTokens = 4000;

interface TokenTextProps {
  readonly run: number;
  readonly n: number;
  readonly call: number;
  /** Name of what the tokens are coloured by. */
  readonly by: string;
  /** Until the tokens are there. */
  readonly text: string;
}

export function TokenText({ run, n, call, by, text }: TokenTextProps) {
  const { value: tokens, error } = useRead<TokenView>(
    `/api/runs/${run}/episodes/${n}/tokens?call=${call}`,
  );
  if (tokens === null)
    return (
      <>
        <LongText text={text} kind="assistant" />
        {error !== null && <p class="bad small">{error}</p>}
      </>
    );
  const shown = quantityNamed(quantitiesOf(tokens), by);
  const { responseIds, responseTexts } = tokens;
  if (shown === null)
    return (
      <>
        <LongText text={text} kind="assistant" />
        <p class="dim small">
          Of this call, no {by} is known. {tokens.notRecorded.join(" ")}
        </p>
      </>
    );
  return (
    <pre class="assistant token-text" dir="auto">
      {responseIds.slice(0, maxTokens).map((id, at) => (
        <span
          key={at}
          class={shown.heat(shown.values[at] ?? 0)}
          title={`${shown.name} ${shortNumber(shown.values[at])}, id ${id}`}
        >
          {responseTexts?.[at] ?? `${id} `}
        </span>
      ))}
    </pre>
  );
}
