// A parent to be killed: starts PostgreSQL in the directory and on the port given, and says its pid.
import { startPostgres } from "../src/postgres.ts";

const [dataDir = "", port] = process.argv.slice(2);
const part = await startPostgres({ dataDir, port: Number(port) });
process.stdout.write(`${part.pid}\n`);
