/** Items of a request that stand for items of earlier responses of its session, by their ids. */
import type { ChatMessage } from "../../../core/message.ts";
import { ApiError, badRequest } from "../../http/api-error.ts";
import { maxEntries, readString, show } from "../../http/json-fields.ts";
import { isJsonObject, type JsonFields } from "../../../util/json-object.ts";
import { placeOf, type ItemPlace } from "./item-ids.ts";
import type { TurnReader } from "./turn-reader.ts";

/** OpenAI lets the type of a reference out. */
function isReference(item: unknown): item is JsonFields {
  if (!isJsonObject(item)) return false;
  const { type, role, id } = item;
  if (type === undefined || type === null) return role === undefined && typeof id === "string";
  return type === "item_reference";
}

/** Ids of the responses whose items are referred to. */
export function referredResponses(input: unknown): ReadonlySet<string> {
  // One that is too long is refused where it is read.
  const items: readonly unknown[] = Array.isArray(input) && input.length <= maxEntries ? input : [];
  const places = items.map((item) =>
    isReference(item) && typeof item.id === "string" ? placeOf(item.id) : undefined,
  );
  return new Set(places.flatMap((place) => place?.responseId ?? []));
}

/** Status, fields and first words are OpenAI's, which has no code here. */
function notFound(id: string): ApiError {
  return new ApiError({
    status: 404,
    message: `Item with id '${id}' not found. Items are not persisted when \`store\` is set to false, and this session has stored none of that id.`,
    param: "input",
    retry: false,
  });
}

/** Reads the references of one request. */
export class References {
  readonly #responses: ReadonlyMap<string, ChatMessage>;
  readonly #seen = new Set<string>();

  /** @param responses what was said in each response that is referred to and known */
  constructor(responses: ReadonlyMap<string, ChatMessage>) {
    this.#responses = responses;
  }

  /** Adds what an item refers to; false where it is no reference. @throws ApiError 404 for an unknown id, 400 for what cannot be read */
  read(item: unknown, at: string, turns: TurnReader): boolean {
    if (!isReference(item)) return false;
    const id = readString(item, "id", `${at}.id`);
    if (id === undefined) throw badRequest(`${at}.id`, `${at}.id is missing.`);
    // As OpenAI has it. A few bytes would stand for a long text any number of times.
    if (this.#seen.has(id)) {
      throw badRequest(
        "input",
        `Duplicate item found with id ${show(id)} at ${at}. Send each item once.`,
      );
    }
    this.#seen.add(id);
    const place: ItemPlace | undefined = placeOf(id);
    const message = place && this.#responses.get(place.responseId);
    if (!place || !message || !turns.refer(place, message)) throw notFound(id);
    return true;
  }
}
