/**
 * `agent-trainer/init`: writes the files of a new project.
 *
 * @module init
 */

export { initProject } from "./init-project.ts";
export type { InitFile, InitOptions, InitResult } from "./init-project.ts";
export type { FrameworkName } from "./frameworks.ts";
