/**
 * Which base an adapter was trained on, where it is not the model as published. A separate file: PEFT and
 * servers reject settings that they do not know.
 */
import { existsSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Quantization } from "../../core/backend.ts";
import { ModelError } from "../../core/errors.ts";
import { readJsonFile } from "../../util/files/json-file.ts";
import { jsonText } from "./model-assets.ts";

const name = "quantization.json";

/** Nothing for `none`. */
export async function writeQuantization(folder: string, quantization: Quantization): Promise<void> {
  if (quantization === "none") return;
  const content = {
    linear_layers: quantization,
    scheme:
      "symmetric, one 32-bit scale per output: weight = integer * scale, scale = max |row| / 127",
  };
  await writeFile(join(folder, name), jsonText(content));
}

/** @throws ModelError when the file cannot be read, or names a quantization that is not known */
export async function readQuantization(folder: string): Promise<Quantization> {
  const file = join(folder, name);
  if (!existsSync(file)) return "none";
  const { linear_layers: found } = await readJsonFile(file).catch((cause: Error) => {
    throw new ModelError({ message: cause.message, cause, fields: { file } });
  });
  if (found === "int8") return found;
  throw new ModelError({
    message: `${file}: "linear_layers" is ${JSON.stringify(found)}; supported: "int8".`,
    fields: { file },
  });
}
