/** The Python environment for verl: its packages, the commands that install them, and a check of what is installed. */
import { runLimited } from "../../util/process/limited-process.ts";
import { environmentSteps, installStep, type SetupStep } from "./setup-step.ts";
import type { CliIo } from "../terminal/io.ts";

/** What an environment contains, and what is missing. */
export function writeVerlReport(report: VerlReport, isJson: boolean, { stdout }: CliIo): void {
  if (isJson) {
    stdout.write(`${JSON.stringify(report)}\n`);
    return;
  }
  const versions = Object.entries(report.packages).map(
    ([name, version]) => `${name} ${version ?? "-"}`,
  );
  stdout.write(`Python ${report.version ?? "-"} (${report.python})\n`);
  if (versions.length > 0) stdout.write(`${versions.join(", ")}\n`);
  for (const problem of report.problems) stdout.write(`- ${problem}\n`);
}

export const inferenceNames = ["vllm", "sglang", "none"] as const;
type InferenceName = (typeof inferenceNames)[number];

/** Versions that were resolved together; verl's own version constraints allow few others. */
const pins = {
  verl: "0.9.0",
  ray: "2.60.0",
  transformers: "5.10.4",
  tensordict: "0.10.0",
  vllm: "0.20.2",
} as const;

/** Packages that verl imports but does not declare. */
const unlisted = ["cachetools", "fastapi", "uvicorn", "einops"];

export interface SetupOptions {
  readonly folder: string;
  /** Interpreter that creates the environment. */
  readonly python: string;
  readonly inference: InferenceName;
  /** Faster on long rows, and compiled on this machine if there is no wheel, which can take hours. */
  readonly flashAttention: boolean;
}

function packagesFor(inference: InferenceName): readonly string[] {
  const extra = inference === "none" ? "" : `[${inference}]`;
  return [
    `verl${extra}==${pins.verl}`,
    `ray[default]==${pins.ray}`,
    `tensordict==${pins.tensordict}`,
    `transformers==${pins.transformers}`,
    ...(inference === "vllm" ? [`vllm==${pins.vllm}`] : []),
    ...unlisted,
  ];
}

/** The commands, in order. */
export function setupSteps(options: SetupOptions): readonly SetupStep[] {
  const { folder, python, inference, flashAttention } = options;
  const title = `verl ${pins.verl}${inference === "none" ? "" : ` with ${inference}`}`;
  const flash = ["--no-build-isolation", "flash-attn"];
  return [
    ...environmentSteps(folder, python, title, packagesFor(inference)),
    ...(flashAttention ? [installStep(folder, "flash-attn", flash)] : []),
  ];
}

export interface VerlReport {
  readonly python: string;
  /** Null when the interpreter does not start. */
  readonly version: string | null;
  readonly packages: Readonly<Record<string, string | null>>;
  readonly problems: readonly string[];
}

// Reads only metadata: importing these packages takes half a minute.
const probe = `
import importlib.metadata as m, json, sys
def version(name):
    try: return m.version(name)
    except m.PackageNotFoundError: return None
names = ["verl", "ray", "torch", "transformers", "tensordict", "vllm", "sglang", "flash-attn"]
print(json.dumps({"version": ".".join(map(str, sys.version_info[:3])), "packages": {n: version(n) for n in names}}))
`;

/** Lists the packages of an interpreter; never throws. */
export async function inspectVerl(python: string): Promise<VerlReport> {
  const { exitCode, stdout } = await runLimited(
    { argv: [python, "-c", probe], cwd: process.cwd(), env: process.env },
    { timeoutMs: 30_000 },
  ).catch(() => ({ exitCode: null, stdout: "" }));
  if (exitCode !== 0) {
    const problem = `${python} does not start; create an environment with: agent-trainer verl setup`;
    return { python, version: null, packages: {}, problems: [problem] };
  }
  const found = JSON.parse(stdout) as Pick<VerlReport, "packages"> & { version: string };
  const { verl, vllm, sglang } = found.packages;
  const problems: string[] = [];
  if (!verl) problems.push("verl is not installed; run: agent-trainer verl setup");
  else if (!/^0\.[89]\./u.test(verl))
    problems.push(`verl ${verl} is not supported; use 0.8 or 0.9.`);
  if (!vllm && !sglang)
    problems.push("Neither vllm nor sglang is installed, so nothing can sample.");
  return { python, ...found, problems };
}
