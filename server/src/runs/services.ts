// All capabilities of the server as one composition type. It is built once, in `compose.ts`. No function takes the
// whole: each names what it uses with `Pick`, so a test provides only that.
import type { Database } from "../db/connect.ts";
import type { OpenSnapshot } from "../db/snapshot.ts";
import type { ImageDecoder } from "../images/image-decoder.ts";
import type { ThumbnailMaker } from "../images/thumbnail.ts";
import type { VideoFrames } from "../images/video-frames.ts";
import type { Clock, Ids, Random } from "../kit/clock.ts";
import type { CrashPoint } from "../observe/crash-points.ts";
import type { Log } from "../observe/log.ts";
import type { Metrics } from "../observe/metrics.ts";
import type { Tracing } from "../observe/tracing.ts";
import type { OutboundHttp } from "../outbound/outbound-http.ts";
import type { ProvenanceService } from "../provenance/provenance-service.ts";
import type { AssetStore } from "../storage/asset-store.ts";
import type { ByteBudget } from "./byte-budget.ts";
import type { AllowedLoras } from "./custom-models.ts";
import type { DatabaseSteadiness } from "./database-steadiness.ts";
import type { ExhaustedBudgetLog } from "./exhausted-budget-log.ts";
import type { FileTurns } from "./file-turns.ts";
import type { InFlightAttempts } from "./in-flight-attempts.ts";
import type { JobFiles } from "./job-files.ts";
import type { Notifications } from "./notifications.ts";
import type { FindProvenancePolicy } from "./provenance-policy.ts";
import type { ProviderRegistry } from "./provider-registry.ts";
import type { ResponseSpool } from "./response-spool.ts";
import type { RunSettings } from "./run-settings.ts";
import type { WebhookPolicy } from "./run-webhook.ts";
import type { SuspectRuns } from "./suspect-runs.ts";

/** What every process provides by itself. Tests use one fixture for all of it. */
export type ProcessRuntime = {
  clock: Clock;
  random: Random;
  ids: Ids;
  settings: RunSettings;
  /** What fetched sources and results may use of this process's memory together. */
  byteBudget: ByteBudget;
  /** What sent files may use of this process's memory together. */
  fileTurns: FileTurns;
  log: Log;
  metrics: Metrics;
  tracing: Tracing;
  crashPoint(name: CrashPoint): void;
};

export type Services = ProcessRuntime & {
  database: Database;
  /** The same database for statements that take minutes, such as the deletion of a tenant. */
  slowDatabase: Database;
  openSnapshot(): Promise<OpenSnapshot>;
  assets: AssetStore;
  http: OutboundHttp;
  images: ImageDecoder;
  videoFrames: VideoFrames;
  thumbnails: ThumbnailMaker;
  provenance: ProvenanceService;
  findProvenancePolicy: FindProvenancePolicy;
  providers: ProviderRegistry;
  jobFiles: JobFiles;
  spool: ResponseSpool;
  inFlight: InFlightAttempts;
  steadiness: DatabaseSteadiness;
  suspects: SuspectRuns;
  notifications: Notifications;
  webhooks: WebhookPolicy;
  loras: AllowedLoras;
  logExhaustedBudget: ExhaustedBudgetLog;
};
