// Runs `gesso dev --json` with stubs for the server and the sandbox, in a process that a test can signal.
import { fileURLToPath } from "node:url";
import { dev } from "../src/main.ts";

const [data = "", port] = process.argv.slice(2);
const stub = fileURLToPath(new URL("./stub.ts", import.meta.url));
const entries = { server: stub, sandbox: stub };
process.exit(await dev({ data, json: true, entries, ...(port && { port: Number(port) }) }));
