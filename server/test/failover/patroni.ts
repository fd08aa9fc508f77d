// `npm run drill -- patroni`: PostgreSQL under Patroni, etcd and HAProxy. Under load the machine of the primary is
// lost, comes back as a standby, and the primary is then moved by a planned switchover.
import { setTimeout as sleep } from "node:timers/promises";
import { boundFigure, runLoadDrill } from "../chaos/load-drill.ts";
import { type CampaignReport, isShort, type Log, runCampaign } from "../support/campaign.ts";
import { startPatroniCluster } from "./patroni-cluster.ts";

const PER_SECOND = 20;
/** The promise of the connection pool: back within 15 s of the promotion. */
const RECOVERY_SECONDS = 15;

async function patroniDrill({ before, after }: { before: number; after: number }, log: Log): Promise<CampaignReport> {
  const cluster = await startPatroniCluster();
  log("three nodes, one of them synchronous");
  try {
    return await runLoadDrill(
      {
        name: "failover and switchover by Patroni",
        perSecond: PER_SECOND,
        before,
        environment: { databaseUrl: cluster.superuserUrl, processEnv: async () => ({ DATABASE_URL: cluster.url }) },
        async perform({ disturb }) {
          const lost = await cluster.findLeader();
          const promoted = await disturb("kill primary", async () => {
            await lost.kill();
            return cluster.waitForLeaderOtherThan(lost);
          });
          log(`${lost.name} was killed, ${promoted.name} was promoted`);
          await sleep(after * 1000);
          await lost.start();
          await cluster.waitForStandbys();
          log(`${lost.name} is a standby`);
          await sleep(after * 500);
          await disturb("switchover", () => cluster.switchOver());
          await cluster.waitForStandbys();
          await sleep(after * 1000);
        },
        check: (figures) =>
          ["kill primary", "switchover"].map((name) =>
            boundFigure(figures, name, ["acceptedAfterMs", "runs are accepted again within", RECOVERY_SECONDS]),
          ),
      },
      log,
    );
  } finally {
    await cluster.stop();
  }
}

await runCampaign("patroni drill", {
  patroni: (log) => patroniDrill(isShort ? { before: 5, after: 15 } : { before: 15, after: 30 }, log),
});
