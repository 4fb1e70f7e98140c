/**
 * An object with some of its properties changed: how every wrapper of a sampler, a renderer, a target or a
 * backend is written, so that it loses nothing that it does not change, whatever the interface gains later.
 */

type Method = (...args: unknown[]) => unknown;

/**
 * What is not in `changes` is read from `inner` when it is asked for: getters as they are at that moment,
 * methods of classes on `inner` itself, so that they reach its private fields. A changed method that `inner`
 * lacks stays absent, so that an optional one is offered only where it works. Spreading the result, like
 * spreading any object, copies values and leaves out methods of a class.
 *
 * @example
 * const counted = overlay(sampler, {
 *   sample: async (request) => count(await sampler.sample(request)),
 * });
 */
export function overlay<T extends object>(inner: T, changes: Partial<T>): T {
  const bound = new WeakMap<Method, Method>();
  const isChanged = (key: PropertyKey): boolean => {
    if (!Object.hasOwn(changes, key)) return false;
    const isMethod = typeof Object.getOwnPropertyDescriptor(changes, key)?.value === "function";
    return !isMethod || Reflect.get(inner, key, inner) !== undefined;
  };
  const read = (key: PropertyKey): unknown => {
    if (isChanged(key)) return Reflect.get(changes, key, changes);
    const value: unknown = Reflect.get(inner, key, inner);
    if (typeof value !== "function" || key === "constructor") return value;
    const method = value as Method;
    // The same function each time, as a property of an object would be.
    const own = bound.get(method) ?? method.bind(inner);
    bound.set(method, own);
    return own;
  };
  const changed = (): PropertyKey[] => Reflect.ownKeys(changes).filter(isChanged);
  // Not `inner` itself: a proxy may not change what its own target has frozen.
  return new Proxy(Object.create(Object.getPrototypeOf(inner) as object | null) as T, {
    get: (_, key) => read(key),
    set: (_, key, value) => Reflect.set(inner, key, value, inner),
    has: (_, key) => isChanged(key) || Reflect.has(inner, key),
    ownKeys: () => [...new Set([...Reflect.ownKeys(inner), ...changed()])] as (string | symbol)[],
    getOwnPropertyDescriptor(_, key) {
      const own = isChanged(key)
        ? Object.getOwnPropertyDescriptor(changes, key)
        : Object.getOwnPropertyDescriptor(inner, key);
      if (own === undefined) return undefined;
      const { enumerable = false } = own;
      return { get: () => read(key), enumerable, configurable: true };
    },
  });
}
