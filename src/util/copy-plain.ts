/**
 * A copy of plain data that shares nothing mutable. What is not plain data (functions, objects
 * of classes, proxies that refuse) is kept as it is, because a copy would be something else.
 */

/**
 * Lists, maps, sets, dates, byte arrays and plain objects are copied, cycles included. Never throws: what
 * cannot be traversed is returned unchanged.
 */
export function copyPlain<T>(value: T): T {
  try {
    return copy(value, new Map()) as T;
  } catch {
    return value;
  }
}

function copy(value: unknown, known: Map<object, unknown>): unknown {
  if (typeof value !== "object" || value === null) return value;
  const before = known.get(value);
  if (before !== undefined) return before;
  if (Array.isArray(value)) {
    const list: unknown[] = [];
    known.set(value, list);
    for (const item of value as unknown[]) list.push(copy(item, known));
    return list;
  }
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype === Object.prototype || prototype === null) return copyObject(value, known);
  if (prototype === Map.prototype) {
    const map = new Map<unknown, unknown>();
    known.set(value, map);
    for (const [key, item] of value as Map<unknown, unknown>) {
      map.set(copy(key, known), copy(item, known));
    }
    return map;
  }
  if (prototype === Set.prototype) {
    const set = new Set<unknown>();
    known.set(value, set);
    for (const item of value as Set<unknown>) set.add(copy(item, known));
    return set;
  }
  const isData =
    prototype === Date.prototype ||
    prototype === ArrayBuffer.prototype ||
    (ArrayBuffer.isView(value) && !Buffer.isBuffer(value));
  if (!isData) return Buffer.isBuffer(value) ? Buffer.from(value) : value;
  const data: unknown = structuredClone(value);
  known.set(value, data);
  return data;
}

/** Getters stay getters: reading them may be expensive, or throw. */
function copyObject(value: object, known: Map<object, unknown>): object {
  const object = Object.create(Object.getPrototypeOf(value) as object | null) as object;
  known.set(value, object);
  for (const key of Reflect.ownKeys(value)) {
    const own = Object.getOwnPropertyDescriptor(value, key);
    if (own === undefined) continue;
    if ("value" in own) {
      // What is frozen in the original may be changed in the copy, which its owner does not share.
      const descriptor = {
        ...own,
        value: copy(own.value, known),
        writable: true,
        configurable: true,
      };
      Object.defineProperty(object, key, descriptor);
    } else {
      Object.defineProperty(object, key, { ...own, configurable: true });
    }
  }
  return object;
}
