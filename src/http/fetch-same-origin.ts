/** `fetch` for requests with a key: it leads to no other server than the one that the key is for. */

const maxHops = 5;

/** A response that leads to another origin, which would get headers and body of the request. */
export class RedirectError extends Error {
  constructor(from: URL, to: URL) {
    super(
      from.origin === to.origin
        ? `${from.href} redirects more than ${maxHops} times`
        : `${from.origin} redirects to ${to.origin}, which gets no keys; if that is the right server, give its address`,
    );
    this.name = "RedirectError";
  }
}

/** Redirects are followed within the origin of `url` only. @throws RedirectError for another one */
export async function fetchSameOrigin(
  url: string | URL,
  init: RequestInit = {},
  send: typeof fetch = fetch,
): Promise<Response> {
  let at = new URL(url);
  const request: RequestInit = { ...init, redirect: "manual" };
  for (let hops = 0; ; hops++) {
    const response = await send(hops === 0 ? url : at, request);
    const location = response.headers.get("location");
    if (![301, 302, 303, 307, 308].includes(response.status) || location === null) return response;
    await response.body?.cancel();
    const next = new URL(location, at);
    if (next.origin !== at.origin || hops === maxHops) throw new RedirectError(at, next);
    // As `fetch` does it.
    const becomesGet =
      response.status === 303 || (response.status < 303 && request.method === "POST");
    if (becomesGet) {
      const headers = new Headers(request.headers);
      for (const name of ["content-type", "content-length"]) headers.delete(name);
      Object.assign(request, { method: "GET", headers });
      delete request.body;
    }
    at = next;
  }
}
