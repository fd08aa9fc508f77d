// A parent process for tests to kill: starts PostgreSQL in the given directory and on the given port, prints its pid.
import { startPostgres } from "../src/postgres.ts";

const [dataDir = "", port] = process.argv.slice(2);
const component = await startPostgres({ dataDir, port: Number(port) });
process.stdout.write(`${component.pid}\n`);
