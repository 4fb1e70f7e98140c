/** Servers without a key serve programs of this machine, and no page that a browser shows. One rule for all of them. */

/** Whether only this machine reaches an address to listen on. */
export function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || /^127(?:\.\d{1,3}){3}$/.test(host);
}

/** Whether the host of a URL is a name of this machine; another one is a page's, which leads its name here. */
export const isLocalName = (hostname: string): boolean =>
  isLoopback(hostname.replace(/^\[|\]$/g, "")) || hostname === "host.docker.internal";

/** What is said to others. */
export const localClientsOnly =
  "This server requires no key, so it serves programs of this machine only: under localhost or 127.0.0.1, and without an Origin header, as browsers send it.";

/** Whether it may come from a page: by its own origin, or by a name that the page chose. `url` has the host that was asked for. */
export function isForeign(url: string, origin: string | null | undefined): boolean {
  return (
    (origin !== null && origin !== undefined) ||
    !URL.canParse(url) ||
    !isLocalName(new URL(url).hostname)
  );
}
