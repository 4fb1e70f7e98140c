/** Writes next to the API reference what it was made of; `test/docs/public-api.test.ts` compares. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { apiSources, apiSourcesFile } from "../test/docs/api-sources.ts";
import { root } from "../test/docs/pages.ts";

writeFileSync(join(root, apiSourcesFile), `${JSON.stringify(apiSources(), null, 2)}\n`);
