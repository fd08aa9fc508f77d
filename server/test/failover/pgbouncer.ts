// `npm run drill -- pgbouncer`: Gesso through PgBouncer in transaction mode, with a direct URL for LISTEN. Statements
// must have their role and tenant on whichever session they get, notifications must arrive, and PgBouncer is killed.
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { connectDatabase, type Database } from "../../src/db/connect.ts";
import { boundFigure, runLoadDrill } from "../chaos/load-drill.ts";
import { type CampaignReport, type CheckResult, isShort, type Log, runCampaign } from "../support/campaign.ts";
import { type PgBouncer, startPgBouncer } from "./pgbouncer-process.ts";

/** Fewer than the connections of the two server processes, so that transactions of all clients share sessions. */
const SERVER_CONNECTIONS = 12;
const STATEMENTS = 2000;
const NOTIFICATIONS = 200;
const DOWN_SECONDS = 3;

async function pgBouncerDrill(size: { before: number; after: number }, log: Log): Promise<CampaignReport> {
  let starting: Promise<PgBouncer> | undefined;
  const checks: CheckResult[] = [];
  const open = async (databaseUrl: string) => {
    starting ??= startPgBouncer(databaseUrl, SERVER_CONNECTIONS);
    return starting;
  };
  try {
    return await runLoadDrill(
      {
        name: `PgBouncer in transaction mode with ${SERVER_CONNECTIONS} server connections`,
        perSecond: 20,
        before: size.before,
        environment: {
          processEnv: async (_, { databaseUrl }) => ({
            DATABASE_URL: (await open(databaseUrl)).url,
            DIRECT_DATABASE_URL: databaseUrl,
          }),
        },
        async perform({ environment, disturb }) {
          const pgBouncer = await open(environment.databaseUrl);
          const { clients, servers } = await pgBouncer.countConnections();
          checks.push({
            invariant: "all clients share the connections of the pooler",
            passed: servers <= SERVER_CONNECTIONS && clients > 0,
            observed: `${clients} clients on ${servers} server connections`,
          });
          const urls = { DATABASE_URL: pgBouncer.url, DIRECT_DATABASE_URL: environment.databaseUrl };
          const database = connectDatabase({ ...urls, DATABASE_POOL: 16 });
          checks.push(await checkScopes(database), await checkNotifications(database));
          await database.close();
          log(checks.map(({ observed }) => observed).join("; "));
          await disturb("kill pgbouncer", async () => {
            await pgBouncer.kill();
            await sleep(DOWN_SECONDS * 1000);
            await pgBouncer.start();
          });
          await sleep(size.after * 1000);
        },
        check: (figures) => [
          ...checks,
          boundFigure(figures, "kill pgbouncer", ["acceptedAfterMs", "runs are accepted again within", 15]),
        ],
      },
      log,
    );
  } finally {
    await (await starting)?.stop();
  }
}

/** Statements of many tenants and of none, at once: each must see its own role and tenant. */
async function checkScopes(database: Database): Promise<CheckResult> {
  const scope = "select current_user::text as role, current_setting('app.tenant', true) as tenant";
  const asked = Array.from({ length: STATEMENTS }, async (_, index) => {
    const tenant = index % 4 === 0 ? "" : randomUUID();
    const asker = tenant === "" ? database : database.forTenant(tenant);
    const [row] = await asker.query<{ role: string; tenant: string }>("drill.scope", scope);
    return row!.tenant === tenant && row!.role === (tenant === "" ? "gesso_system" : "gesso_app");
  });
  const right = (await Promise.all(asked)).filter(Boolean).length;
  return {
    invariant: "every statement has its own role and tenant",
    passed: right === STATEMENTS,
    observed: `${right} of ${STATEMENTS}`,
  };
}

/** Notifications are sent through the pooler and received past it. */
async function checkNotifications(database: Database): Promise<CheckResult> {
  const sentAt = new Map<string, number>();
  const delays: number[] = [];
  const close = await database.listen("gesso_drill", (payload) => {
    const at = sentAt.get(payload);
    if (at !== undefined) delays.push(performance.now() - at);
  });
  for (let index = 0; index < NOTIFICATIONS; index++) {
    sentAt.set(String(index), performance.now());
    await database.query("drill.notify", "select pg_notify('gesso_drill', $1)", [String(index)]);
  }
  await sleep(500);
  await close();
  return {
    invariant: "every notification arrives at a listener",
    passed: delays.length === NOTIFICATIONS,
    observed: `${delays.length} of ${NOTIFICATIONS} notifications, the slowest after ${Math.max(0, ...delays).toFixed(0)} ms`,
  };
}

await runCampaign("pgbouncer drill", {
  transactions: (log) => pgBouncerDrill(isShort ? { before: 5, after: 10 } : { before: 20, after: 40 }, log),
});
