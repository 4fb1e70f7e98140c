/** The name of a dataset on a hub: `hf:OWNER/NAME[@REVISION][/CONFIG][:SPLIT]`, or an object. */
import { ConfigError } from "../../core/errors.ts";

/** A dataset on a Hugging Face hub. */
export interface HubDataset {
  /** `OWNER/NAME` */
  readonly hub: string;
  /** One of the dataset's configurations. @default the only one, or "default" */
  readonly config?: string | null;
  /** `train`, `validation`, `test` and the like. @default the only one */
  readonly split?: string | null;
  /** A branch, a tag or a commit. @default the hub's Parquet copy of the newest version, or the main branch */
  readonly revision?: string | null;
}

const pattern =
  /^hf:(?<hub>[\w-][\w.-]*\/[\w-][\w.-]*)(?:@(?<revision>[^/:@]+))?(?:\/(?<config>[^/:@]+))?(?::(?<split>[\w.-]+))?$/u;

export const isHubName = (text: string): boolean => text.startsWith("hf:");

/** @throws ConfigError for a name of another form. */
export function parseHubName(text: string, option: string): HubDataset {
  const { hub, revision, config = null, split = null } = pattern.exec(text)?.groups ?? {};
  if (hub === undefined) {
    throw new ConfigError({
      message: `${option} names ${JSON.stringify(text)}, which is not the name of a dataset on a hub.`,
      hint: "Use hf:OWNER/NAME, followed by @REVISION, /CONFIG and :SPLIT where needed, as in hf:openai/gsm8k/main:train. Write a slash in a revision as %2F.",
      fields: { option, value: text },
    });
  }
  return { hub, config, split, revision: revision === undefined ? null : decode(revision) };
}

function decode(revision: string): string {
  try {
    return decodeURIComponent(revision);
  } catch {
    return revision;
  }
}

/** The name that `parseHubName` reads. */
export function formatHubName({ hub, config, split, revision }: HubDataset): string {
  const part = (mark: string, value: string | null | undefined): string =>
    value === null || value === undefined ? "" : `${mark}${value}`;
  const at = part("@", typeof revision === "string" ? encodeURIComponent(revision) : null);
  return `hf:${hub}${at}${part("/", config)}${part(":", split)}`;
}
