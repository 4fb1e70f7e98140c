/** A Dockerfile that needs no container: a working folder, variables and copied files. Anything else is named. */
import { posix } from "node:path";

/** What a trivial Dockerfile sets up. */
export interface FolderPlan {
  readonly workdir: string;
  readonly env: Readonly<Record<string, string>>;
  /** From the folder of the Dockerfile, in order. */
  readonly copies: readonly { readonly from: string; readonly to: string }[];
}

/** Instructions without an effect on what a shell sees. */
const ignored = new Set([
  "FROM",
  "LABEL",
  "EXPOSE",
  "CMD",
  "ENTRYPOINT",
  "MAINTAINER",
  "STOPSIGNAL",
]);

/** The plan, or the instruction that needs a container. */
export function readTrivialDockerfile(text: string): FolderPlan | { readonly needs: string } {
  let workdir = "/app";
  let stages = 0;
  const env: Record<string, string> = {};
  const copies: { from: string; to: string }[] = [];
  const lines = text
    .replaceAll(/\\\r?\n/gu, " ")
    .split(/\r?\n/u)
    .map((line) => line.trim())
    .filter((line) => line !== "" && !line.startsWith("#"));
  for (const line of lines) {
    const [word = "", ...rest] = line.split(/\s+/u);
    const instruction = word.toUpperCase();
    if (instruction === "FROM" && ++stages > 1) return { needs: "several stages" };
    if (ignored.has(instruction)) continue;
    if (instruction === "WORKDIR" && rest.length === 1) {
      workdir = posix.resolve(workdir, rest[0]!);
    } else if (instruction === "ENV" && rest.every((one) => /^\w+=[^"'$\\]*$/u.test(one))) {
      for (const one of rest) env[one.slice(0, one.indexOf("="))] = one.slice(one.indexOf("=") + 1);
    } else if (instruction === "COPY" && rest.length === 2 && rest.every(isPlain)) {
      const [from = "", to = ""] = rest;
      if (from.split("/").includes("..")) return { needs: line.slice(0, 100) };
      const target = posix.resolve(workdir, to);
      const isFolder = to.endsWith("/") || from === "." || from.endsWith("/") || to === ".";
      copies.push({ from, to: isFolder ? `${target}/` : target });
    } else if (instruction === "USER" && rest.join(" ") === "root") continue;
    else return { needs: line.slice(0, 100) };
  }
  return { workdir, env, copies };
}

const isPlain = (word: string): boolean => /^[\w./-]+$/u.test(word) && !word.startsWith("--");
