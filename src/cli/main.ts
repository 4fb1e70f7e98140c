#!/usr/bin/env node
/** Entry of the `agent-trainer` executable. */
import { runCli } from "./program.ts";

process.exitCode = await runCli(process.argv.slice(2), process);
