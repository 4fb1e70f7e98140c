/** `agent-trainer gateway`: runs only the capture server, until interrupted. */
import { once } from "node:events";
import {
  createGateway,
  createSqliteTraceStore,
  type Gateway,
  type TraceStore,
} from "../../gateway/index.ts";
import { redact } from "../../util/redact.ts";
import { exitCodes } from "../terminal/exit-codes.ts";
import { watchInterrupt } from "../terminal/interrupt.ts";
import type { CliIo } from "../terminal/io.ts";
import { formatError } from "../terminal/report-error.ts";
import { colorsFor } from "../terminal/terminal.ts";
import { startSource, type SourceFlags } from "./gateway-source.ts";

export interface GatewayFlags extends SourceFlags {
  readonly store: string;
  readonly storeSync: "full" | "normal";
  readonly host: string;
  readonly port: number;
  readonly adminToken?: string;
  /** Require no tokens, for clients that cannot send one. */
  readonly open?: boolean;
  readonly sessionIdle?: number;
  readonly json?: boolean;
  readonly quiet?: boolean;
  readonly verbose?: boolean;
}

/** Environment variable that holds the admin token. */
export const adminTokenVariable = "AGENT_TRAINER_ADMIN_TOKEN";

/** How long calls in flight may take to finish after the first Ctrl-C. */
const drainMs = 10_000;

function openStore({ store, storeSync }: GatewayFlags): TraceStore | undefined {
  if (store === "memory") return undefined;
  return createSqliteTraceStore(store, { synchronous: storeSync });
}

const openNotice = `warning: --open: no token is required. Every program on this machine can use the model, read
warning: all traces and change the workers. Use it only for clients that cannot send a token.
`;

function announce(gateway: Gateway, url: string, flags: GatewayFlags, io: CliIo): void {
  if (flags.json === true) io.stdout.write(`${JSON.stringify({ url, store: flags.store })}\n`);
  else io.stdout.write(`${url}\n`);
  const isChosen = (flags.adminToken ?? process.env[adminTokenVariable] ?? "") !== "";
  // The only place where the token is shown.
  if (flags.open === true) io.stderr.write(openNotice);
  else if (!isChosen) io.stderr.write(`admin token: ${gateway.adminToken}\n`);
  if (flags.quiet === true) return;
  io.stderr.write(
    `Traces are stored in ${flags.store}. POST ${url}/sessions creates a session. Press Ctrl-C to stop the gateway.\n`,
  );
}

async function stop(gateway: Gateway, io: CliIo): Promise<void> {
  const left = await gateway.drain(drainMs);
  if (left > 0)
    io.stderr.write(
      `Calls still in flight after ${drainMs / 1000} s: ${left}. They are aborted and not recorded.\n`,
    );
  await gateway.close();
}

/** Runs the command; resolves with the exit status once the gateway has stopped. */
export async function gatewayCommand(flags: GatewayFlags, io: CliIo): Promise<number> {
  using interrupt = watchInterrupt(() => {
    io.stderr.write(
      "Stopping: waiting for calls in flight. Press Ctrl-C again to quit immediately.\n",
    );
  });
  const token = flags.adminToken ?? process.env[adminTokenVariable];
  const colors = colorsFor(io.stderr);
  const store = openStore(flags);
  try {
    const onWarning = (message: string): void =>
      void io.stderr.write(`warning: ${redact(message)}\n`);
    await using source = await startSource(flags, interrupt.signal, onWarning);
    const gateway = createGateway({
      target: source.target,
      model: flags.model ?? source.model,
      ...(store ? { store } : {}),
      ...(token === undefined || token === "" ? {} : { adminToken: token }),
      ...(flags.open === true ? { open: true } : {}),
      ...(flags.sessionIdle === undefined ? {} : { sessionIdleMs: flags.sessionIdle * 1000 }),
      onWarning,
      onError: (error) => {
        io.stderr.write(redact(formatError(error, colors, flags.verbose === true)));
      },
    });
    try {
      const { url } = await gateway.listen({ host: flags.host, port: flags.port });
      if (flags.quiet !== true) for (const note of source.notes) io.stderr.write(`${note}\n`);
      announce(gateway, url, flags, io);
      if (!interrupt.signal.aborted) await once(interrupt.signal, "abort");
    } finally {
      await stop(gateway, io);
    }
  } finally {
    await store?.close();
  }
  return exitCodes.done;
}
