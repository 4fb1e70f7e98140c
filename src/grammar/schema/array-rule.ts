/** Lists: `items`, `prefixItems`, `minItems`, `maxItems`. */
import type { PlainSchema } from "./normalize.ts";
import { limitOf } from "./value-languages.ts";
import type { SchemaWriter } from "./writer.ts";

export function writeArray(
  writer: SchemaWriter,
  from: number,
  plain: PlainSchema,
  path: string,
): number {
  const { machine } = writer;
  const { prefixItems, items = true } = plain;
  const min = limitOf(plain, "minItems", 0, path);
  const max = limitOf(plain, "maxItems", Infinity, path);
  const end = machine.state();
  let at = writer.space(machine.text(from, "["));
  // From here on places of the list are states; past `counted` they are all alike.
  const counted = Math.max(prefixItems.length, min, max === Infinity ? 1 : max);
  const element = (start: number, i: number, to?: number): number => {
    const own = prefixItems[i];
    const place = own === undefined ? "/items" : `/prefixItems/${i}`;
    const begun = i === 0 ? start : writer.space(machine.text(start, ","));
    return machine.call(begun, writer.rule(own ?? items, path + place), to);
  };
  for (let i = 0; i < counted; i++) {
    if (i >= min) machine.jump(at, end);
    if (i >= max) return machine.text(writer.space(end), "]");
    at = element(at, i);
  }
  machine.jump(at, end);
  if (max === Infinity) element(at, counted, at);
  return machine.text(writer.space(end), "]");
}
