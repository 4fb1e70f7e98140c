/** What the page's address says. */

export interface Route {
  /** `runs`, `rounds`, `run`, `tasks`, `episodes`, `episode`, `group` or `diff`. */
  readonly page: string;
  readonly run: number;
  readonly id: string;
  /** Call whose tokens are open; null for none. */
  readonly tokens: number | null;
  /** Call whose HTTP bodies are open; null for none. */
  readonly http: number | null;
  /** What the text of an episode is coloured by; empty for nothing. */
  readonly overlay: string;
  readonly filter: Readonly<Record<string, string>>;
}

export function parseRoute(hash: string): Route {
  const [path = "", query = ""] = hash.replace(/^#\/?/u, "").split("?");
  const [given = "", run = "0", id = ""] = path.split("/");
  // The lists have no name after them.
  const page = ["runs", "rounds"].includes(given) && path !== given ? "unknown" : given;
  const { tokens, http, overlay, ...filter } = Object.fromEntries(new URLSearchParams(query));
  return {
    page: page === "" ? "runs" : page,
    run: Number(run),
    id: decodeURIComponent(id),
    tokens: tokens === undefined ? null : Number(tokens),
    http: http === undefined ? null : Number(http),
    overlay: overlay ?? "",
    filter,
  };
}
