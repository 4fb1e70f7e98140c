/** The metrics of `docs/metrics.md`, which is where they are described. */
import { readPage } from "./pages.ts";

/** Placeholders such as `{role}` stand for one or more segments of a path. */
export const metricNames: readonly string[] = readPage("docs/metrics.md")
  .split("\n")
  .filter((line) => line.startsWith("| `"))
  .flatMap((line) => [...line.split(" | ")[0]!.matchAll(/`([^`]+)`/gu)].map(([, name]) => name!));

function patternOf(name: string): RegExp {
  const parts = name.split(/\{\w+\}/u).map((part) => part.replaceAll(/[.*+?^$()|[\]\\]/gu, "\\$&"));
  return new RegExp(`^${parts.join(".+")}$`, "u");
}

const patterns = metricNames.map((name) => ({ name, pattern: patternOf(name) }));
const written = (name: string): number => name.replaceAll(/\{\w+\}/gu, "").length;

/** The name in the page that `metric` is an instance of, the one that says most of it. */
export function documentedName(metric: string): string | undefined {
  const found = patterns.filter(({ pattern }) => pattern.test(metric)).map(({ name }) => name);
  return found.toSorted((a, b) => written(b) - written(a))[0];
}
