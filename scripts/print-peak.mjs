/** For `node --import`: prints the peak of the memory, in MiB, when the process ends, by Ctrl-C too. */
process.on("SIGINT", () => process.exit());
process.on("exit", () => console.log(`peak ${Math.round(process.resourceUsage().maxRSS / 1024)}`));
