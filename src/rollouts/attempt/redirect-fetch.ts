/**
 * Calls of clients that were created outside of any rollout, at the top of a module for example, to the
 * endpoint of the rollout that is running: found by the asynchronous context, so parallel rollouts never
 * see one another.
 */
import { currentEndpoint } from "./trajectory-scope.ts";

/** Where model calls go in the APIs that the gateway has. */
const modelRoutes =
  /\/(chat\/completions|completions|responses|messages(?:\/count_tokens)?|models(?:\/[^/]+)?)$/u;

/** The headers that carry the key in the APIs that the gateway has. */
const keyHeaders = ["authorization", "x-api-key", "api-key"];

type Input = Parameters<typeof fetch>[0];
type Init = Parameters<typeof fetch>[1];

function redirected(input: Input, init: Init, send: typeof fetch): Promise<Response> | null {
  const endpoint = currentEndpoint();
  if (endpoint === null) return null;
  const url = new URL(input instanceof Request ? input.url : String(input));
  const route = modelRoutes.exec(url.pathname)?.[1];
  if (route === undefined) return null;
  const request = new Request(input, init);
  const headers = new Headers(request.headers);
  for (const name of keyHeaders) headers.delete(name);
  headers.set("authorization", `Bearer ${endpoint.apiKey}`);
  const target = `${endpoint.baseUrl()}/${route}${url.search}`;
  return (endpoint.fetch ?? send)(new Request(target, new Request(request, { headers })));
}

/**
 * A `fetch` for clients that exist before any rollout: inside of one, calls of a model go to that rollout's own
 * endpoint with its own key, whatever base URL and key the client has; outside, and for all other URLs, it is
 * the global `fetch`. Inside of `withTrajectory(name, ...)`, calls belong to that trajectory.
 *
 * @param input As of `fetch`.
 * @param init As of `fetch`.
 * @returns The response.
 *
 * @example
 * const client = new OpenAI({ apiKey: process.env.OPENAI_API_KEY, fetch: rolloutFetch });
 */
export const rolloutFetch: typeof fetch = (input, init) =>
  redirected(input, init, fetch) ?? fetch(input, init);

/**
 * Which calls `redirectFetch` takes.
 *
 * @example
 * const options: RedirectOptions = { hosts: ["api.openai.com", "llm.example.com"] };
 */
export interface RedirectOptions {
  /**
   * Hosts, with their port where there is one, whose calls of a model go to the rollout. Others, a judge's for
   * example, pass unchanged. @default those of OpenAI, Anthropic and OpenRouter, and those of
   * `OPENAI_BASE_URL`, `OPENAI_API_BASE` and `ANTHROPIC_BASE_URL`
   */
  readonly hosts?: readonly string[];
}

const baseVariables = ["OPENAI_BASE_URL", "OPENAI_API_BASE", "ANTHROPIC_BASE_URL"];

function defaultHosts(): readonly string[] {
  const own = baseVariables.flatMap((name) => {
    const value = process.env[name];
    return value !== undefined && URL.canParse(value) ? [new URL(value).host] : [];
  });
  return ["api.openai.com", "api.anthropic.com", "openrouter.ai", ...own];
}

/**
 * Replaces the global `fetch` by one that does what {@link rolloutFetch} does for calls to `hosts`: an
 * application whose clients are global is trained without a change to it. Call it before the application is
 * imported, since clients keep the `fetch` that they find.
 *
 * @param options Which hosts.
 * @returns Restores what was there.
 *
 * @example
 * import { redirectFetch } from "agent-trainer/fetch";
 * redirectFetch();
 * const { answer } = await import("./my-application.js");
 */
export function redirectFetch({ hosts = defaultHosts() }: RedirectOptions = {}): () => void {
  const before = globalThis.fetch;
  const own: typeof fetch = (input, init) => {
    const url = input instanceof Request ? input.url : String(input);
    const isTaken = URL.canParse(url) && hosts.includes(new URL(url).host);
    return (isTaken ? redirected(input, init, before) : null) ?? before(input, init);
  };
  globalThis.fetch = own;
  return () => {
    if (globalThis.fetch === own) globalThis.fetch = before;
  };
}
