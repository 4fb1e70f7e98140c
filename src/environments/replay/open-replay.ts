/** The environment that `replay:FOLDER?field=value` names. */
import { ConfigError } from "../../core/errors.ts";
import { ReplaySource } from "./replay-source.ts";

const known = ["nearest", "max_missing", "model", "model_name", "key_env"];

/** @throws ConfigError for a field that it does not have, or a key that is not set. */
export function openReplay(rest: string): ReplaySource {
  const [folder = "", query = ""] = rest.split(/\?(.*)/su);
  const fields = new Map(new URLSearchParams(query));
  const wrong = [...fields.keys()].find((name) => !known.includes(name));
  if (wrong !== undefined) {
    throw new ConfigError({
      message: `The environment replay:${rest} has the field "${wrong}"; there are ${known.join(", ")}.`,
      hint: "Write it as in replay:./curated?nearest=0.6&max_missing=1.",
      fields: { value: rest },
    });
  }
  const number = (name: string): number | undefined => {
    const text = fields.get(name);
    return text === undefined ? undefined : text === "" ? Number.NaN : Number(text);
  };
  const [nearest, maxMissing] = [number("nearest"), number("max_missing")];
  const baseUrl = fields.get("model");
  const needsModel = fields.has("model_name") || fields.has("key_env");
  if (needsModel && baseUrl === undefined) {
    throw new ConfigError({
      message: `The environment replay:${rest} has model_name or key_env, which have no effect without model.`,
      hint: "Add model=https://HOST/v1, or remove them.",
      fields: { value: rest },
    });
  }
  return new ReplaySource({
    folder,
    ...(nearest === undefined ? {} : { nearest }),
    ...(maxMissing === undefined ? {} : { maxMissing }),
    ...(baseUrl === undefined
      ? {}
      : {
          model: {
            baseUrl,
            model: fields.get("model_name") ?? "",
            apiKey: keyOf(fields.get("key_env")),
          },
        }),
  });
}

function keyOf(variable: string | undefined): string | undefined {
  if (variable === undefined) return undefined;
  const key = process.env[variable] ?? "";
  if (key !== "") return key;
  throw new ConfigError({
    message: `key_env of the replayed environment names ${variable}, which is not set.`,
    hint: `Set it: export ${variable}=...`,
    fields: { variable },
  });
}
