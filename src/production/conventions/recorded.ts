/** What one convention makes of a span. */
import type { Damage } from "../../core/completeness.ts";
import { reasonsNear, saysEnding } from "../messages/endings.ts";
import { parsed } from "../messages/read-messages.ts";
import type { AnyValue, OtlpSpan } from "../otlp/otlp-span.ts";
import type { ModelCall, Span, ToolRun } from "../store/span.ts";

interface Recorded {
  readonly kind: Span["kind"];
  readonly source: string;
  /** Of an agent, where it has one. */
  readonly name?: string;
  readonly model?: ModelCall;
  readonly tool?: ToolRun;
}

/** null where the span is of another convention. */
export type Convention = (span: OtlpSpan) => Recorded | null;

/** All that a span and its events say about how the response ended, by whatever convention. */
export const endingsOf = ({ attributes, events }: OtlpSpan): readonly unknown[] =>
  [{ attributes }, ...events].flatMap((all) =>
    Object.entries(all.attributes).flatMap(([name, value]) =>
      saysEnding(name)
        ? value
        : name === "gen_ai.event.content" || name.endsWith("metadata")
          ? reasonsNear(parsed(value))
          : [],
    ),
  );

const shortestLimit = 64;

/** Whether a text may have been cut at its end: ids have no spaces, and what is JSON or ends in a sign is whole. */
const mayBeCut = (text: string): boolean =>
  text.length >= shortestLimit &&
  /\s/u.test(text) &&
  !/[.!?…)\]}"'`]\s*$/u.test(text.slice(-10)) &&
  !/^\s*[[{]/u.test(text);

/**
 * What the limits of the program's telemetry took of a span. A limit on the length of attributes leaves no mark but
 * that different texts end at the same length, and none is longer.
 */
export function limitDamage(span: OtlpSpan): ReadonlySet<Damage> {
  const all = [span, ...span.events];
  const texts = all.flatMap((one) =>
    Object.values(one.attributes)
      .flat()
      .filter((value: AnyValue): value is string => typeof value === "string"),
  );
  const dropped = all.reduce((sum, one) => sum + one.dropped, 0);
  const longest = texts.reduce((most, { length }) => Math.max(most, length), 0);
  const atLimit = new Set(texts.filter((text) => text.length === longest && mayBeCut(text)));
  return new Set(dropped > 0 || atLimit.size > 1 ? ["attribute limit"] : []);
}
