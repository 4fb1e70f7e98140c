/** Types that keywords speak of where no `type` is given: as people mean it, and more narrowly than JSON Schema. */
import type { PlainSchema } from "./normalize.ts";

const allTypes = ["object", "array", "string", "number", "boolean", "null"] as const;

export function impliedTypes(plain: PlainSchema): readonly string[] {
  const { numbers } = plain;
  const has = (...names: readonly string[]): boolean =>
    names.some((name) => Object.hasOwn(numbers, name));
  const isObjectLike =
    plain.properties.size + plain.patternProperties.size + plain.required.length > 0 ||
    plain.additional !== undefined ||
    plain.propertyNames.length > 0 ||
    has("minProperties", "maxProperties");
  if (isObjectLike) return ["object"];
  if (plain.items !== undefined || plain.prefixItems.length > 0 || has("minItems", "maxItems"))
    return ["array"];
  if (plain.patterns.length + plain.formats.length > 0 || has("minLength", "maxLength"))
    return ["string"];
  if (Object.keys(numbers).length > 0) return ["number"];
  return allTypes;
}
