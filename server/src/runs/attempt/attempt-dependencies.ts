// What the paid step uses: it claims an attempt, sends it, and stores what comes back.
import type { Database } from "../../db/connect.ts";
import type { Notifications } from "../core/notifications.ts";
import type { RunSettings } from "../core/run-settings.ts";
import type { Runtime } from "../core/runtime.ts";
import type { ProviderRegistry } from "../offers/provider-registry.ts";
import type { DatabaseSteadiness } from "../ownership/database-steadiness.ts";
import type { InFlightAttempts } from "../ownership/in-flight-attempts.ts";
import type { JobFiles } from "./job-files.ts";
import type { ResponseSpool } from "./response-spool.ts";

/** What keeps a response until it is in the database, and knows whether the database is there to take it. */
type ResponseKeeping = {
  jobFiles: JobFiles;
  spool: ResponseSpool;
  inFlight: InFlightAttempts;
  steadiness: DatabaseSteadiness;
};

export type AttemptDependencies = Runtime &
  ResponseKeeping & {
    database: Database;
    providers: ProviderRegistry;
    settings: RunSettings;
    notifications: Notifications;
  };

/** What only reads and writes attempts. */
export type AttemptRecords = Pick<AttemptDependencies, "database" | "providers" | "notifications">;
