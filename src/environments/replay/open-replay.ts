/** The environment that `replay:FOLDER?field=value` names. */
import { ConfigError } from "../../core/errors.ts";
import { defined } from "../../util/defined.ts";
import { ReplaySource } from "./replay-source.ts";

/** @throws ConfigError for a field that it does not have. */
export function openReplay(rest: string): ReplaySource {
  const [folder = "", query = ""] = rest.split(/\?(.*)/su);
  const {
    nearest,
    max_missing: maxMissing,
    ...unknown
  } = Object.fromEntries(new URLSearchParams(query));
  const [wrong] = Object.keys(unknown);
  if (wrong !== undefined) {
    throw new ConfigError({
      message: `The environment replay:${rest} has the field "${wrong}"; there are nearest and max_missing.`,
      hint: "Write it as in replay:./curated?nearest=0.6&max_missing=1.",
      fields: { value: rest },
    });
  }
  return new ReplaySource({
    folder,
    ...defined({ nearest: numberOf(nearest), maxMissing: numberOf(maxMissing) }),
  });
}

const numberOf = (text: string | undefined): number | undefined =>
  text === "" ? Number.NaN : text === undefined ? undefined : Number(text);
