/** Lists by key, in order of first appearance; as `Map.groupBy`, which Node 20 lacks. */

export function groupBy<T, K>(
  items: Iterable<T>,
  keyOf: (item: T, index: number) => K,
): Map<K, T[]> {
  const groups = new Map<K, T[]>();
  let index = 0;
  for (const item of items) addTo(groups, keyOf(item, index++), item);
  return groups;
}

/** Adds `value` to the list of `key`, which is created if needed. */
export function addTo<K, V>(groups: Map<K, V[]>, key: K, value: V): void {
  const list = groups.get(key);
  if (list) list.push(value);
  else groups.set(key, [value]);
}
