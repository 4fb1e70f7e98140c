/** `agent-trainer doctor service URL`: what a Tinker server can do, each by probing it. */
import { ConfigError } from "../../core/errors.ts";
import { defined } from "../../util/defined.ts";
import { formatServiceReport, trainingOn } from "../service/format-service-report.ts";
import { inspectService, type ServiceReport } from "../service/inspect-service.ts";
import { exitCodes } from "../terminal/exit-codes.ts";
import { watchInterrupt } from "../terminal/interrupt.ts";
import type { CliIo } from "../terminal/io.ts";
import { canRewrite, colorsFor } from "../terminal/terminal.ts";

export interface DoctorServiceFlags {
  readonly key?: string;
  readonly model?: string;
  readonly rank: number;
  readonly json?: boolean;
  readonly quiet?: boolean;
}

/** Runs the command; resolves with 1 where the server cannot be trained on. */
export async function doctorServiceCommand(
  url: string,
  flags: DoctorServiceFlags,
  io: CliIo,
): Promise<number> {
  using interrupt = watchInterrupt(() => {
    io.stderr.write("Stopping; the probe's model is unloaded. Press Ctrl-C again to quit now.\n");
  });
  if (!URL.canParse(url) || !/^https?:/u.test(url))
    throw new ConfigError({
      message: `"${url}" is not the URL of a server.`,
      hint: "Give one such as http://127.0.0.1:8100.",
      fields: { url },
    });
  const isLive = canRewrite(io.stderr) && flags.quiet !== true;
  const clear = (): void => void (isLive && io.stderr.write("\r\u001B[2K"));
  const report = await inspectService({
    client: { baseUrl: url, ...defined({ apiKey: flags.key }) },
    rank: flags.rank,
    signal: interrupt.signal,
    ...defined({ baseModel: flags.model }),
    onProbe: (done, of, { topic, name }) => {
      if (isLive) io.stderr.write(`\r\u001B[2K${done}/${of}  ${topic}: ${name}`);
    },
  }).finally(clear);
  io.stdout.write(flags.json === true ? `${jsonOf(report)}\n` : tableOf(report, io));
  return trainingOn(report) === "none" ? exitCodes.failed : exitCodes.done;
}

const jsonOf = (report: ServiceReport): string =>
  JSON.stringify({ ...report, training: trainingOn(report) });

const tableOf = (report: ServiceReport, io: CliIo): string =>
  formatServiceReport(report, colorsFor(io.stdout));
