/** Writes what is generated from the options' schema: JSON Schema, TypeScript interface, tables of the docs. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { optionPage, withOptionTables } from "./option-docs.ts";
import { configTypes, configTypesFile } from "../src/config/published-types.ts";
import { publishedSchema, schemaFile } from "../src/config/published-schema.ts";

const pathOf = (name: string): string => fileURLToPath(new URL(`../${name}`, import.meta.url));

function write(name: string, text: string): void {
  const file = pathOf(name);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}

write(schemaFile, `${JSON.stringify(publishedSchema(), null, 2)}\n`);
write(configTypesFile, configTypes());
write(optionPage, withOptionTables(readFileSync(pathOf(optionPage), "utf8")));
