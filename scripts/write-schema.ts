/** Writes `schemas/train-config.schema.json` anew, as editors read it. */
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { publishedSchema, schemaFile } from "../src/config/published-schema.ts";

const file = fileURLToPath(new URL(`../${schemaFile}`, import.meta.url));
mkdirSync(dirname(file), { recursive: true });
writeFileSync(file, `${JSON.stringify(publishedSchema(), null, 2)}\n`);
