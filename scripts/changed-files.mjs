/** What a change has touched since it left `main`, and which checks can find a fault in it. Runs nothing but git. */
import { execFileSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { extname, join } from "node:path";

const git = (root, ...args) =>
  execFileSync("git", args, { cwd: root, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });

/** Where this branch left `main`; on `main` itself, and without one, the last commit. */
function baseOf(root) {
  for (const branch of ["main", "origin/main"]) {
    try {
      return git(root, "merge-base", "HEAD", branch).trim();
    } catch {
      // There is no such branch.
    }
  }
  return "HEAD";
}

/** Paths of files that differ from the base, committed or not; deleted ones are left out. */
export function changedFiles(root) {
  const tracked = git(root, "diff", "--name-only", "--diff-filter=d", "-z", baseOf(root));
  const added = git(root, "ls-files", "--others", "--exclude-standard", "-z");
  const paths = `${tracked}${added}`.split("\0").filter((path) => path !== "");
  return [...new Set(paths)].sort();
}

const formatted = new Set([".ts", ".tsx", ".mts", ".js", ".mjs", ".json", ".css", ".yml", ".yaml"]);
const linted = new Set([".ts", ".tsx", ".mts", ".js", ".mjs"]);
/** What tests of pages read without importing it. */
const ofPages = /\.md$|^package\.json$|^llms\.txt$|^docs\/|^schemas\//u;
/** A change of these is one of everything: `npm test` is for that. */
const ignored = /^(?:package-lock\.json|site\/package-lock\.json|native\/prebuilt\/)/u;

/** The checks of these files, as `{ name, command }`; `tests` is null where no unit test is related. */
export function checksOf(root, changed) {
  const files = changed.filter((path) => !ignored.test(path));
  const having = (endings) => files.filter((path) => endings.has(extname(path)));
  const [toFormat, toLint] = [having(formatted), having(linted)];
  const isOfPage = (path) => path.startsWith("src/view/");
  const incremental = (name) => [
    "--incremental",
    "--tsBuildInfoFile",
    `.cache/${name}.tsbuildinfo`,
  ];
  const docs = files.some((path) => ofPages.test(path)) ? docTests(root) : [];
  const related = [...toLint, ...docs];
  return {
    static: [
      toFormat.length > 0 && {
        name: "format",
        command: ["oxfmt", "--check", "--no-error-on-unmatched-pattern", ...toFormat],
      },
      toLint.length > 0 && {
        name: "lint",
        command: ["oxlint", "--deny-warnings", "--no-error-on-unmatched-pattern", ...toLint],
      },
      toLint.some((path) => !path.startsWith("src/view/app/")) && {
        name: "types",
        command: ["tsc", "--noEmit", "-p", "tsconfig.json", ...incremental("types")],
      },
      toLint.some(isOfPage) && {
        name: "types of the page",
        command: ["tsc", "--noEmit", "-p", "src/view/app", ...incremental("types-of-page")],
      },
    ].filter((check) => check !== false),
    tests:
      related.length === 0
        ? null
        : ["vitest", "related", "--run", "--project", "unit", "--passWithNoTests", ...related],
  };
}

/** Without the one that trains, which a change of the metrics runs. */
function docTests(root) {
  const names = readdirSync(join(root, "test/docs")).filter(
    (name) => name.endsWith(".test.ts") && name !== "metrics.test.ts",
  );
  return names.map((name) => `test/docs/${name}`);
}
