// `npm run proof -- mutation`: Stryker, with one PostgreSQL for all test runs. Stryker restarts the test runner often,
// and a new PostgreSQL each time would take longer than the tests. Arguments are passed on: `-- --mutate FILE,FILE`.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { setup } from "./support/shared-services.ts";

const stopPostgres = await setup();
const stryker = spawn("stryker", ["run", ...process.argv.slice(2)], { stdio: "inherit" });
const [code] = await once(stryker, "exit");
await stopPostgres();
process.exit(code ?? 1);
