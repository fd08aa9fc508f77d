// `gesso dev --json` with stand-ins for the server and the sandbox, as a process of its own that a test can signal.
import { fileURLToPath } from "node:url";
import { dev } from "../src/main.ts";

const [data = "", port] = process.argv.slice(2);
const stub = fileURLToPath(new URL("./stub.ts", import.meta.url));
const entries = { server: stub, sandbox: stub };
process.exit(await dev({ data, json: true, entries, ...(port && { port: Number(port) }) }));
