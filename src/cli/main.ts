#!/usr/bin/env node
/** Entry of the `agent-trainer` executable. */
import { endProcess, ignoreClosedReaders } from "./terminal/process-end.ts";
import { runCli } from "./program.ts";

ignoreClosedReaders([process.stdout, process.stderr]);
endProcess(await runCli(process.argv.slice(2), process), process.stderr);
