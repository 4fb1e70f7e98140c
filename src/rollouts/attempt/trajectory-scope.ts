/**
 * Which trajectory running code belongs to: set by `withTrajectory`, read by `config.fetch`. It
 * follows the asynchronous context, so concurrent work never sees another's scope. Patches nothing.
 */
import { AsyncLocalStorage } from "node:async_hooks";

/** How one attempt used scopes. */
export interface ScopeUse {
  /** Names that `withTrajectory` was called with. */
  readonly entered: Set<string>;
  /** Calls that `config.fetch` or `agent-trainer/fetch` sent to this attempt's session. */
  calls: number;
  /** This attempt's own. @default calls of clients from outside are not redirected */
  readonly endpoint?: {
    readonly apiKey: string;
    /** Of a trajectory, or of the session for null. */
    readonly baseUrlOf: (name: string | null) => string;
    /** @default the global `fetch` */
    readonly fetch?: typeof fetch;
  };
}

interface Scope {
  readonly use: ScopeUse | null;
  readonly name: string | null;
}

const key = Symbol.for("agent-trainer.trajectory-scope");
const shared = globalThis as { [key]?: AsyncLocalStorage<Scope> };
// One for all copies of this package, since the agent may import a different copy than the
// trainer.
const scopes = (shared[key] ??= new AsyncLocalStorage<Scope>());

/**
 * Runs `work`, and attributes the calls that it makes with `config.fetch` to the trajectory `name`.
 * When nested, the innermost name applies. Outside of a rollout it only runs `work`.
 *
 * @param name Name of the trajectory: its role.
 * @param work A function, usually async, that calls the model.
 * @returns What `work` returns.
 *
 * @example
 * const client = new OpenAI({ baseURL: config.baseUrl, apiKey: config.apiKey, fetch: config.fetch });
 * const plan = await withTrajectory("planner", () => client.chat.completions.create(...));
 */
export function withTrajectory<T>(name: string, work: () => T): T {
  const use = scopes.getStore()?.use ?? null;
  use?.entered.add(name);
  return scopes.run({ use, name }, work);
}

/** Runs an attempt so that `use` records its scopes; scopes of the caller do not apply inside. */
export function observeScopes<T>(use: ScopeUse, work: () => T): T {
  return scopes.run({ use, name: null }, work);
}

/** Where a call belongs that is made now; null outside of rollouts. `baseUrl` counts the call. */
export function currentEndpoint(): {
  readonly apiKey: string;
  readonly fetch: typeof fetch | undefined;
  baseUrl(): string;
} | null {
  const { use = null, name = null } = scopes.getStore() ?? {};
  const endpoint = use?.endpoint;
  if (use === null || endpoint === undefined) return null;
  return {
    apiKey: endpoint.apiKey,
    fetch: endpoint.fetch,
    baseUrl() {
      use.calls++;
      return endpoint.baseUrlOf(name);
    },
  };
}

/** A `fetch` that sends calls under `baseUrl` to `baseUrlOf(name)` inside of a scope, all by `send`. */
export function scopedFetch(
  baseUrl: string,
  baseUrlOf: (name: string) => string,
  use: ScopeUse,
  send: typeof fetch,
): typeof fetch {
  return async (input, init) => {
    const url = input instanceof Request ? input.url : String(input);
    const rest = url.startsWith(baseUrl) ? url.slice(baseUrl.length) : null;
    if (rest === null || !/^(?:$|[/?#])/u.test(rest)) return await send(input, init);
    use.calls++;
    const name = scopes.getStore()?.name ?? null;
    if (name === null) return await send(input, init);
    const target = baseUrlOf(name) + rest;
    return await (input instanceof Request
      ? send(new Request(target, input), init)
      : send(target, init));
  };
}
