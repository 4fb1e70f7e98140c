/** `POST .../v1/completions`. */
import { ContextOverflowError } from "../../../core/errors.ts";
import { readJsonObject } from "../../http/body.ts";
import type { Reply } from "../../http/reply.ts";
import { handleCall, type RouteContext } from "../handle-call.ts";
import { identifyCall } from "../repeated-call.ts";
import { ignoredFields } from "../fields/field-table.ts";
import { completionsFields, parseCompletionsRequest } from "./request.ts";
import { toTextCompletion } from "./response.ts";
import { CompletionsStream } from "./stream.ts";

export async function handleCompletions(context: RouteContext): Promise<Reply> {
  const { gateway, request } = context;
  const { renderer, abilities } = gateway.target;
  const body = await readJsonObject(request, gateway);
  const { contextLength = Infinity } = gateway.target;
  const parsed = parseCompletionsRequest(body, gateway.model, abilities, (ids) => {
    // Before millions of ids become text.
    if (ids.length >= contextLength) throw new ContextOverflowError(ids.length, contextLength);
    return renderer.decode(ids);
  });
  const { call, stream, includeUsage, logprobs } = parsed;
  gateway.ignored.note("openai-completions", ignoredFields(body, completionsFields));
  const { responseId, lost } = identifyCall(context, call, "cmpl-");
  const options = { model: gateway.model, renderer, logprobs };
  return handleCall(context, {
    call,
    responseId,
    lost,
    stream: stream
      ? (events) => new CompletionsStream({ ...options, responseId, includeUsage }, events)
      : null,
    whole: (result) => toTextCompletion(result, options),
  });
}
