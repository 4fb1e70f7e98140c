/** The model of a new project, as its configuration names it. */
import { isAbsolute, relative, resolve, sep } from "node:path";
import { kindOfModelName } from "../../backends/local/model-name.ts";

/** What the templates are written for. */
export const templateModel = "builtin:shop-tiny";

/** A path is relative to the project, where commands are run. @throws ModelError for a name that is none. */
export function modelInProject(name: string, folder: string): string {
  if (kindOfModelName(name) !== "path" || isAbsolute(name)) return name;
  const path = relative(folder, resolve(name)).split(sep).join("/");
  return /^\.{1,2}(?:\/|$)/u.test(path) ? path : `./${path}`;
}

/** The template's configuration with another model, whose learning rate is its own default. */
export function withModel(yaml: string, model: string): string {
  if (model === templateModel) return yaml;
  const lines = yaml.split("\n").filter((line) => !line.startsWith("training:"));
  return lines
    .map((line) =>
      line.startsWith("model:")
        ? `model: { name: ${JSON.stringify(model)} } # a folder, a run, a .gguf file, or OWNER/NAME on a hub`
        : line,
    )
    .join("\n");
}
