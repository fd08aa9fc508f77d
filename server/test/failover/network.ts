// `npm run drill -- network`: packets are dropped without a reset, under load. `--only blackhole`: between PostgreSQL
// and everything else. `--only partition`: between the engine and the worker, in both directions.
import { setTimeout as sleep } from "node:timers/promises";
import { boundFigure, runLoadDrill } from "../chaos/load-drill.ts";
import { type CampaignReport, isShort, type Log, runCampaign } from "../support/campaign.ts";
import { dropPackets } from "../support/dropped-packets.ts";

type NetworkDrillSize = { perSecond: number; before: number; droppedSeconds: number; after: number };

const portOf = (url: string) => Number(new URL(url).port);

const blackholedDatabase = (size: NetworkDrillSize, log: Log): Promise<CampaignReport> =>
  runLoadDrill(
    {
      name: `database blackholed for ${size.droppedSeconds} s`,
      ...size,
      async perform({ environment, disturb }) {
        await disturb("database_blackholed", () =>
          dropPackets([portOf(environment.databaseUrl)], () => sleep(size.droppedSeconds * 1000)),
        );
        await sleep(size.after * 1000);
      },
      check: (figures) => [
        boundFigure(figures, "database_blackholed", ["acceptedAfterMs", "runs are accepted again within", 15]),
        boundFigure(figures, "database_blackholed", ["endedAfterMs", "runs end again within", 30]),
      ],
    },
    log,
  );

/** The API does not talk to the engine, so it accepts runs all the time. */
function partitionedEngine(size: NetworkDrillSize, log: Log): Promise<CampaignReport> {
  let workerPort = 0;
  return runLoadDrill(
    {
      name: `engine and worker partitioned for ${size.droppedSeconds} s`,
      ...size,
      environment: {
        processEnv: async (_, addresses) => {
          workerPort = addresses.workerPort;
          return {};
        },
      },
      async perform({ environment, disturb }) {
        const ports = [workerPort, portOf(environment.ingressUrl), portOf(environment.adminUrl)];
        await disturb("engine_partition", () => dropPackets(ports, () => sleep(size.droppedSeconds * 1000)));
        await sleep(size.after * 1000);
      },
      check: (figures) => [
        boundFigure(figures, "engine_partition", ["notAcceptedMs", "the API accepts runs, at least one every", 2]),
        boundFigure(figures, "engine_partition", ["endedAfterMs", "runs end again within", 60]),
      ],
    },
    log,
  );
}

const SIZE = isShort
  ? { perSecond: 10, before: 5, droppedSeconds: 30, after: 15 }
  : { perSecond: 20, before: 15, droppedSeconds: 30, after: 40 };

await runCampaign(
  "network drill",
  { blackhole: (log) => blackholedDatabase(SIZE, log) },
  { partition: (log) => partitionedEngine(SIZE, log) },
);
