/** The page's address: what follows `#`, so that every view can be linked to. */
import { useEffect, useState } from "preact/hooks";
import type { EpisodeFilter } from "../api.ts";

export interface Route {
  /** `runs`, `run`, `episodes`, `episode`, `group` or `diff`. */
  readonly page: string;
  readonly run: number;
  readonly id: string;
  /** Call whose tokens are open; null for none. */
  readonly tokens: number | null;
  /** Call whose HTTP bodies are open; null for none. */
  readonly http: number | null;
  readonly filter: Readonly<Record<string, string>>;
}

export function parseRoute(hash: string): Route {
  const [path = "", query = ""] = hash.replace(/^#\/?/u, "").split("?");
  const [page = "", run = "0", id = ""] = path.split("/");
  const { tokens, http, ...filter } = Object.fromEntries(new URLSearchParams(query));
  return {
    page: page === "" ? "runs" : page,
    run: Number(run),
    id: decodeURIComponent(id),
    tokens: tokens === undefined ? null : Number(tokens),
    http: http === undefined ? null : Number(http),
    filter,
  };
}

/** Values that are empty are left out. */
export function queryOf(
  values: Readonly<Record<string, string | number | null | undefined>>,
): string {
  const given = Object.entries(values).flatMap(([name, value]): [string, string][] =>
    value === null || value === undefined || value === "" ? [] : [[name, String(value)]],
  );
  return given.length === 0 ? "" : `?${new URLSearchParams(given).toString()}`;
}

export function linkTo(
  page: string,
  run: number,
  id: string | number = "",
  filter: EpisodeFilter | Readonly<Record<string, string>> = {},
): string {
  const path = id === "" ? `#/${page}/${run}` : `#/${page}/${run}/${encodeURIComponent(id)}`;
  return `${path}${queryOf(filter as Readonly<Record<string, string>>)}`;
}

export function go(href: string): void {
  location.hash = href;
}

export function useRoute(): Route {
  const [route, setRoute] = useState(() => parseRoute(location.hash));
  useEffect(() => {
    const onChange = (): void => setRoute(parseRoute(location.hash));
    addEventListener("hashchange", onChange);
    return () => removeEventListener("hashchange", onChange);
  }, []);
  return route;
}
