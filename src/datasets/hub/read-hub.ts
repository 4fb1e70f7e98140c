/** Rows of a dataset on a hub: from the Parquet copy that the hub keeps, or from the repository's own files. */
import { readFileSync, statSync } from "node:fs";
import { HubError } from "../../models/hub/hub-error.ts";
import {
  openDataset,
  type HubRepository,
  type OpenDatasetOptions,
} from "../../models/hub/open-dataset.ts";
import { readFileRows } from "../files/read-file.ts";
import type { SourceRow } from "../source-row.ts";
import {
  type Configurations,
  chooseFiles,
  convertedFiles,
  ownFiles,
  withDefault,
} from "./choose-files.ts";
import type { HubDataset } from "./hub-name.ts";

/** The branch with the hub's Parquet copy of the newest version. */
const convertedRevision = "refs/convert/parquet";

/** A larger README declares nothing: the files' names say what they are. */
const maxReadmeBytes = 4 * 2 ** 20;

interface Located {
  readonly repository: HubRepository;
  readonly configurations: Configurations;
}

const isMissing = (error: unknown): boolean =>
  error instanceof HubError && (error.reason === "not-found" || error.reason === "offline");

/** Null when the hub keeps no complete copy. */
async function openConverted(hub: string, options: OpenDatasetOptions): Promise<Located | null> {
  try {
    const repository = await openDataset(hub, convertedRevision, options);
    const configurations = convertedFiles(repository.files);
    return configurations === null ? null : { repository, configurations };
  } catch (error) {
    if (isMissing(error)) return null;
    throw error;
  }
}

async function readReadme(repository: HubRepository): Promise<string | null> {
  if (!repository.files.includes("README.md")) return null;
  const [readme] = await repository.fetch(["README.md"]);
  const isSmall = readme !== undefined && statSync(readme).size <= maxReadmeBytes;
  return isSmall ? readFileSync(readme, "utf8") : null;
}

async function openOwn(
  { hub, revision }: HubDataset,
  options: OpenDatasetOptions,
): Promise<Located> {
  const repository = await openDataset(hub, revision ?? "main", options);
  const configurations = ownFiles(repository.files, await readReadme(repository));
  if (configurations.all.size > 0) return { repository, configurations };
  throw new HubError({
    reason: "unsupported",
    message: `The dataset ${hub} has no file that can be read.`,
    hint: "Parquet, JSON Lines, JSON, CSV and TSV files are read; loading scripts are not run.",
    fields: { dataset: hub, files: repository.files.slice(0, 20) },
  });
}

/** The copy does not say which of its configurations the dataset's card prefers. */
async function locate(id: HubDataset, options: OpenDatasetOptions): Promise<Located> {
  const isNewest = id.revision === null || id.revision === undefined;
  const copy = isNewest ? await openConverted(id.hub, options) : null;
  if (copy === null) return openOwn(id, options);
  const { repository, configurations } = copy;
  if ((id.config ?? configurations.byDefault) !== null) return copy;
  const readme = await openDataset(id.hub, "main", options)
    .then(readReadme)
    .catch((error: unknown) => {
      if (isMissing(error)) return null;
      throw error;
    });
  return { repository, configurations: withDefault(configurations, readme) };
}

/**
 * Fetches what is not in the cache yet, then reads file after file.
 * @throws HubError | ConfigError
 */
export async function* readHubRows(
  id: HubDataset,
  options: OpenDatasetOptions,
): AsyncGenerator<SourceRow> {
  const located = await locate(id, options);
  const names = chooseFiles(located.configurations, id);
  const files = await located.repository.fetch(names);
  for (const file of files) yield* readFileRows(file, id.hub);
}
