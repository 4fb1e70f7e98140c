/** The page's address: what follows `#`, so that every view can be linked to. */
import { useEffect, useState } from "preact/hooks";
import type { EpisodeFilter } from "../api/episodes.ts";
import { parseRoute, type Route } from "./parse-route.ts";

/** Values that are empty are skipped. */
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
    // It may have changed before anything listened.
    onChange();
    return () => removeEventListener("hashchange", onChange);
  }, []);
  return route;
}
