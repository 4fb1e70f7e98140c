/** The model of a new project, as its configuration names it, and what it is written with. */
import { isAbsolute, relative, resolve, sep } from "node:path";
import { isBuiltinName, kindOfModelName } from "../../backends/local/model-name.ts";

/** What the templates in `common/` are written for. */
export const templateModel = "builtin:shop-tiny";

/** A path is relative to the project, where commands are run. @throws ModelError for a name that is none. */
export function modelInProject(name: string, folder: string): string {
  if (kindOfModelName(name) !== "path" || isAbsolute(name)) return name;
  const path = relative(folder, resolve(name)).split(sep).join("/");
  return /^\.{1,2}(?:\/|$)/u.test(path) ? path : `./${path}`;
}

/** The built-in model speaks the shop's language from the start; any other begins with demonstrations. */
export const needsDemonstrations = (model: string): boolean => !isBuiltinName(model);

/** A configuration of `templates/real-model/`, which leaves the model's name open. */
export const withModel = (yaml: string, model: string): string =>
  yaml.replace('"MODEL"', () => JSON.stringify(model));
