/** What of this process's environment another one gets: enough to run programs, and no keys. */
import { homedir } from "node:os";
import { delimiter, join } from "node:path";

const passed = new Set(
  (
    "LANG LANGUAGE LC_ALL LC_ADDRESS LC_COLLATE LC_CTYPE LC_IDENTIFICATION LC_MEASUREMENT LC_MESSAGES " +
    "LC_MONETARY LC_NAME LC_NUMERIC LC_PAPER LC_TELEPHONE LC_TIME TZ TERM SHELL USER LOGNAME VIRTUAL_ENV CONDA_PREFIX PYTHONPATH NODE_PATH " +
    "NODE_EXTRA_CA_CERTS SSL_CERT_FILE SSL_CERT_DIR LD_LIBRARY_PATH DYLD_LIBRARY_PATH JAVA_HOME " +
    "GOROOT RUSTUP_HOME CARGO_HOME PYENV_ROOT PYENV_VERSION NVM_DIR " +
    "SYSTEMROOT WINDIR COMSPEC PATHEXT PROGRAMFILES PROGRAMDATA"
  ).split(" "),
);

/**
 * @param passEnv further names that are passed on.
 * @param folder whose installed packages' programs are found.
 */
export function inheritedVariables(
  passEnv: readonly string[],
  folder: string,
): Readonly<Record<string, string>> {
  const own: Record<string, string> = {};
  for (const [name, value] of Object.entries(process.env)) {
    if (value === undefined) continue;
    if (passed.has(name.toUpperCase()) || passEnv.includes(name)) own[name] = value;
  }
  const path = process.env["PATH"] ?? "";
  return {
    PATH: [join(folder, "node_modules", ".bin"), path].join(delimiter),
    // Packages of `pip install --user` are found by HOME, which is another one in a rollout.
    PYTHONUSERBASE: process.env["PYTHONUSERBASE"] ?? join(homedir(), ".local"),
    PYTHONUNBUFFERED: "1",
    // A proxy would get calls to the gateway.
    NO_PROXY: "localhost,127.0.0.1,::1",
    ...own,
  };
}
