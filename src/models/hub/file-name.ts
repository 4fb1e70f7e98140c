/** Names of files as a hub lists them: paths below the repository's root, and nothing else. */
import { HubError } from "./hub-error.ts";

const maxChars = 1_024;

/** Whether a name stays below the folder that it is joined to, on every system. */
function isBelow(name: string): boolean {
  if (name.length > maxChars || /^[a-z]:/iu.test(name) || /[\\\p{Cc}]/u.test(name)) return false;
  return name.split("/").every((part) => part !== "" && part !== "." && part !== "..");
}

/** The name. @throws HubError when it leads out of the repository. */
export function checkFileName(name: unknown): string {
  if (typeof name === "string" && isBelow(name)) return name;
  const shown = JSON.stringify(name)?.slice(0, 200);
  throw new HubError({
    reason: "unsupported",
    message: `The hub listed a file with the name ${shown}, which is not a path within a repository.`,
    hint: "Nothing was fetched. Check HF_ENDPOINT: a hub does not list such names.",
    fields: { name: shown },
  });
}
