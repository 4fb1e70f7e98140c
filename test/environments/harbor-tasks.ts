/** Task folders of Harbor for tests: files by their paths. */
import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";

export async function writeFiles(
  folder: string,
  files: Readonly<Record<string, string>>,
): Promise<string> {
  for (const [path, text] of Object.entries(files)) {
    const file = join(folder, path);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, text, { mode: path.endsWith(".sh") ? 0o755 : 0o644 });
  }
  return folder;
}

/** One step: a file with a word is wanted. */
export const greeting: Readonly<Record<string, string>> = {
  "task.toml": `schema_version = "1.4"
[task]
name = "tests/greeting"
[metadata]
difficulty = "easy"
[verifier]
timeout_sec = 30.0
env = { WANTED = "\${AGENT_TRAINER_TEST_WORD:-hello}" }
[environment]
env = { LANGUAGE_OF_TASK = "en" }
`,
  "instruction.md": "Write hello to greeting.txt.\n",
  "environment/Dockerfile": "FROM ubuntu:24.04\nWORKDIR /app\nENV COLOR=blue\nCOPY notes.txt .\n",
  "environment/notes.txt": "Be kind.\n",
  "tests/test.sh": `#!/bin/bash
if [ "$(cat greeting.txt 2>/dev/null)" = "$WANTED" ]; then echo 1 > /logs/verifier/reward.txt
else echo 0 > /logs/verifier/reward.txt; fi
`,
};

const step = (name: string): Record<string, string> => ({
  [`steps/${name}/instruction.md`]: `Make ${name}.txt.\n`,
  [`steps/${name}/workdir/${name}-hint.txt`]: `hint of ${name}\n`,
  [`steps/${name}/tests/test.sh`]: `#!/bin/bash
[ -f /app/${name}.txt ] && made=1 || made=0
echo "{\\"reward\\": $made, \\"style\\": 0.5}" > /logs/verifier/reward.json
`,
});

/** Two steps; the second begins only after the first. */
export const twoSteps = (strategy: string, leastOfFirst: number): Record<string, string> => ({
  "task.toml": `schema_version = "1.4"
multi_step_reward_strategy = "${strategy}"
[[steps]]
name = "first"
min_reward = ${leastOfFirst}.0
[[steps]]
name = "second"
`,
  "environment/Dockerfile": "FROM ubuntu:24.04\nWORKDIR /app\n",
  ...step("first"),
  ...step("second"),
});
