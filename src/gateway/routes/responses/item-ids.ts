/** Ids of output items. They come from the response's, so that a stream, its end and later references agree. */

/** What was said, thought, and called. */
export type ItemKind = "fc" | "msg" | "rs";

export interface ItemPlace {
  readonly kind: ItemKind;
  readonly responseId: string;
  /** Among the items of this kind in the response, from 0. */
  readonly index: number;
}

export function itemId({ kind, responseId, index }: ItemPlace): string {
  return `${kind}_${responseId.replace(/^resp_/, "")}${index}`;
}

/** Undefined for an id that this gateway has not made. */
export function placeOf(id: string): ItemPlace | undefined {
  const [, kind, response, index] = /^(fc|msg|rs)_([0-9a-f]{32})(\d{1,6})$/.exec(id) ?? [];
  if (kind === undefined) return undefined;
  return { kind: kind as ItemKind, responseId: `resp_${response}`, index: Number(index) };
}
