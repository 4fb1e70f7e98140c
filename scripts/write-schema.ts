/** Writes what is generated: from the options' schema JSON Schema, TypeScript interface and tables of the docs; how to install; llms.txt from the list of pages. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { llmsFile, llmsText } from "./llms-text.ts";
import { installPages, withInstallText } from "./install-text.ts";
import { optionPage, withOptionTables } from "./option-docs.ts";
import { configTypes, configTypesFile } from "./option-types.ts";
import { publishedSchema, schemaFile } from "./option-json-schema.ts";

const pathOf = (name: string): string => fileURLToPath(new URL(`../${name}`, import.meta.url));

function write(name: string, text: string): void {
  const file = pathOf(name);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}

write(schemaFile, `${JSON.stringify(publishedSchema(), null, 2)}\n`);
write(configTypesFile, configTypes());
write(optionPage, withOptionTables(readFileSync(pathOf(optionPage), "utf8")));
for (const page of installPages) {
  write(page, withInstallText(page, readFileSync(pathOf(page), "utf8")));
}
write(llmsFile, llmsText());
