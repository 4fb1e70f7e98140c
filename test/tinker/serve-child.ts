/**
 * A Tinker server as a process of its own, to be killed.
 *
 *     serve-child.ts FOLDER PORT
 *
 * Writes its URL once it listens.
 */
import { startServer } from "./local-server.ts";

const [folder, port] = process.argv.slice(2);
const { server } = await startServer({ folder: folder! });
process.stdout.write(`${await server.listen({ port: Number(port) })}\n`);
