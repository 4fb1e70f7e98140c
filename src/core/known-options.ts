/** Options that code passes by name: an unknown one is an error, as on the command line, and not dropped. */
import { nearestName } from "../util/nearest-name.ts";
import { ConfigError } from "./errors.ts";

/** Every name once, so that the compiler asks for one that is missing; of a union, the names of all its types. */
export type OptionNames<Options> = Readonly<
  Record<Options extends unknown ? keyof Options & string : never, true>
>;

/** @throws ConfigError for the first name that `owner` does not have. */
export function requireKnownOptions(
  owner: string,
  given: object,
  names: Readonly<Record<string, true>>,
): void {
  const unknown = Object.keys(given).find((name) => !Object.hasOwn(names, name));
  if (unknown === undefined) return;
  const known = Object.keys(names);
  const nearest = nearestName(unknown, known);
  throw new ConfigError({
    message: `${owner} has no option ${JSON.stringify(unknown.slice(0, 100))}.${nearest === undefined ? "" : ` Did you mean ${nearest}?`}`,
    hint: `It takes ${known.join(", ")}.`,
    fields: { option: unknown, known },
  });
}
