/** Writes what is generated from the options' schema: a JSON Schema and a TypeScript interface, both for editors. */
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { configTypes, configTypesFile } from "../src/config/published-types.ts";
import { publishedSchema, schemaFile } from "../src/config/published-schema.ts";

function write(name: string, text: string): void {
  const file = fileURLToPath(new URL(`../${name}`, import.meta.url));
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}

write(schemaFile, `${JSON.stringify(publishedSchema(), null, 2)}\n`);
write(configTypesFile, configTypes());
