/** What one convention makes of a span. */
import type { ModelCall, Span, ToolRun } from "../store/span.ts";
import type { OtlpSpan } from "../otlp/otlp-span.ts";

interface Recorded {
  readonly kind: Span["kind"];
  readonly source: string;
  /** Of an agent, where it has one. */
  readonly name?: string;
  readonly model?: ModelCall;
  readonly tool?: ToolRun;
}

/** null where the span is of another convention. @throws Error with the reason why it cannot be read */
export type Convention = (span: OtlpSpan) => Recorded | null;

export const textOf = (value: unknown): string | undefined =>
  typeof value === "string" && value !== "" ? value : undefined;

export const numberOf = (value: unknown): number | undefined =>
  typeof value === "number" && Number.isFinite(value) ? value : undefined;

/** `length` where the response was cut off, in anyone's words. */
export function stopReasonOf(value: unknown): "stop" | "length" | undefined {
  const reasons = Array.isArray(value) ? (value as unknown[]) : [value];
  const known = reasons.filter((one) => typeof one === "string");
  if (known.length === 0) return undefined;
  return known.some((one) => /length|max_tokens/iu.test(one)) ? "length" : "stop";
}
