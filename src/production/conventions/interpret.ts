/** A span of any convention as it is kept. */
import { defined } from "../../util/defined.ts";
import type { OtlpSpan } from "../otlp/otlp-span.ts";
import type { ModelCall, Span } from "../store/span.ts";
import { aiSdk } from "./ai-sdk.ts";
import { genAi } from "./gen-ai.ts";
import { langfuse } from "./langfuse.ts";
import { openInference } from "./openinference.ts";
import { completenessOf } from "../../core/completeness.ts";
import { textOf } from "../messages/fields.ts";
import { type Convention, limitDamage } from "./recorded.ts";

/** The AI SDK's spans have attributes of GenAI too. */
const conventions: readonly Convention[] = [aiSdk, openInference, langfuse, genAi];

const conversationNames = [
  "gen_ai.conversation.id",
  "session.id",
  "ai.telemetry.metadata.conversationId",
  "ai.telemetry.metadata.sessionId",
  "ai.telemetry.metadata.threadId",
  "ai.telemetry.metadata.chatId",
  "langfuse.session.id",
  "traceloop.association.properties.session_id",
];
const userNames = [
  "user.id",
  "enduser.id",
  "ai.telemetry.metadata.userId",
  "langfuse.user.id",
  "traceloop.association.properties.user_id",
];

function firstOf({ attributes, resource }: OtlpSpan, names: readonly string[]): string | undefined {
  return names
    .map((name) => textOf(attributes[name]) ?? textOf(resource[name]))
    .find((one) => one !== undefined);
}

/** What limits took of a span may be a part of any text in it. */
function limited(model: ModelCall, span: OtlpSpan): ModelCall {
  const damage = limitDamage(span);
  const isWhole = model.completeness.state !== "cut";
  return damage.size > 0 && isWhole
    ? { ...model, completeness: completenessOf(damage, "unknown") }
    : model;
}

export function interpret(span: OtlpSpan): Span {
  const recorded: ReturnType<Convention> = conventions.reduce<ReturnType<Convention>>(
    (found, convention) => found ?? convention(span),
    null,
  );
  const { name, source, kind, ...what } = recorded ?? { source: "otel", kind: "other" as const };
  return {
    traceId: span.traceId,
    id: span.spanId,
    parentId: span.parentSpanId,
    name: name ?? span.name,
    kind,
    startMs: span.startMs,
    endMs: span.endMs,
    ...(span.error === null ? {} : { error: span.error || "failed" }),
    ...defined({
      conversationId: firstOf(span, conversationNames),
      user: firstOf(span, userNames),
    }),
    ...what,
    ...(what.model === undefined ? {} : { model: limited(what.model, span) }),
    source,
  };
}
