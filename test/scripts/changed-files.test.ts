/** `scripts/changed-files.mjs`, in small repositories. */
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, it } from "vitest";

interface Checks {
  readonly static: readonly { readonly name: string; readonly command: readonly string[] }[];
  readonly tests: readonly string[] | null;
}

// Plain JavaScript, since scripts/check.mjs runs before anything is installed.
const script = "../../scripts/changed-files.mjs";
const { changedFiles, checksOf } = (await import(script)) as {
  changedFiles: (root: string) => string[];
  checksOf: (root: string, files: readonly string[]) => Checks;
};

interface Repository {
  readonly root: string;
  readonly git: (...args: string[]) => void;
  readonly write: (path: string, text: string) => void;
}

function repository(): Repository {
  const root = mkdtempSync(join(tmpdir(), "changed-"));
  const user = ["-c", "user.name=a", "-c", "user.email=a@localhost", "-c", "commit.gpgsign=false"];
  const git = (...args: string[]): void => {
    execFileSync("git", [...user, ...args], { cwd: root, stdio: "ignore" });
  };
  const write = (path: string, text: string): void => {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  };
  git("init", "--initial-branch=main");
  for (const name of ["a", "b", "c"]) write(`src/${name}.ts`, name);
  write(".gitignore", "dist/\n");
  write("test/docs/links.test.ts", "");
  git("add", ".");
  git("commit", "-m", "Begin");
  return { root, git, write };
}

it("finds what a branch changed, committed or not, and what was added", () => {
  const { root, git, write } = repository();
  git("checkout", "-b", "branch");
  write("src/a.ts", "a, changed");
  git("commit", "-am", "Change a");
  write("src/b.ts", "b, changed");
  write("src/with space.ts", "new");
  write("dist/out.js", "ignored");
  rmSync(join(root, "src/c.ts"));
  expect(changedFiles(root)).toEqual(["src/a.ts", "src/b.ts", "src/with space.ts"]);
});

it("leaves out what main has changed meanwhile", () => {
  const { root, git, write } = repository();
  git("checkout", "-b", "branch");
  git("checkout", "main");
  write("src/a.ts", "of main");
  git("commit", "-am", "Change a on main");
  git("checkout", "branch");
  write("src/b.ts", "of the branch");
  expect(changedFiles(root)).toEqual(["src/b.ts"]);
});

it("compares with the last commit on main, and where there is no main", () => {
  const { root, git, write } = repository();
  write("src/a.ts", "changed");
  expect(changedFiles(root)).toEqual(["src/a.ts"]);
  git("branch", "-m", "main", "other");
  expect(changedFiles(root)).toEqual(["src/a.ts"]);
});

const namesOf = ({ static: checks }: Checks): string[] => checks.map(({ name }) => name);

it("runs what can find a fault in the files, and nothing else", () => {
  const { root } = repository();
  expect(checksOf(root, [])).toEqual({ static: [], tests: null });
  const source = checksOf(root, ["src/util/a.ts"]);
  expect(namesOf(source)).toEqual(["format", "lint", "types"]);
  expect(source.tests?.at(-1)).toBe("src/util/a.ts");
  const page = checksOf(root, ["src/view/app/a.tsx"]);
  expect(namesOf(page)).toEqual(["format", "lint", "types of the page"]);
  const prose = checksOf(root, ["docs/a.md", "native/kernels/a.c"]);
  expect(namesOf(prose)).toEqual([]);
  expect(prose.tests?.at(-1)).toBe("test/docs/links.test.ts");
  expect(checksOf(root, ["src/cli/a.ts", "README.md"]).tests?.slice(-2)).toEqual([
    "src/cli/a.ts",
    "test/docs/links.test.ts",
  ]);
});
