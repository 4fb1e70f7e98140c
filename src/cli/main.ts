#!/usr/bin/env node
/** Entry of the `agent-trainer` executable. Imports nothing itself: an older Node could not link what is imported. */
const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);

if (major < 20 || (major === 20 && minor < 19)) {
  process.stderr.write(
    `agent-trainer needs Node 20.19 or later, but this is Node ${process.versions.node} (${process.execPath}).\nInstall a newer one from https://nodejs.org, or choose one with your version manager, as in: nvm install 22\n`,
  );
  process.exitCode = 1;
} else {
  const [{ endProcess, ignoreClosedReaders }, { runCli }, { guardProcess }] = await Promise.all([
    import("./terminal/process-end.ts"),
    import("./program.ts"),
    import("../rollouts/failures/stray-errors.ts"),
  ]);
  guardProcess();
  ignoreClosedReaders([process.stdout, process.stderr]);
  endProcess(await runCli(process.argv.slice(2), process), process.stderr);
}
