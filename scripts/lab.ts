// `npm run lab`: keeps a PostgreSQL with a migrated template, an installation and a browser running, so that a test
// run starts in a second. The server of the installation follows the sources: it is restarted by the first test after
// a change. Stop it with Ctrl+C. After a change of the migrations, start it again.

import { launchBrowser } from "../console/test/support/shared-browser.ts";
import { announceLab } from "../server/test/support/lab.ts";
import { startSharedServices } from "../server/test/support/shared-services.ts";

const services = await startSharedServices({ followsSources: true });
const browser = await launchBrowser().catch(() => undefined);
await Promise.all(
  ["/migrated-data", "/installations/plain"].map(async (path) => {
    const response = await fetch(`${services.url}${path}`);
    if (!response.ok) throw new Error(`${path}: ${await response.text()}`);
  }),
);
const hide = announceLab(services.url, browser?.wsEndpoint());
console.log(`The lab is up${browser ? "" : ", without a browser"}. npx vitest and npm run t use it. Ctrl+C stops it.`);

for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const)
  process.once(signal, async () => {
    hide();
    await browser?.close();
    await services.stop();
    process.exit(0);
  });
