// Settings of runs: timeouts, worker slots and retention.
import { z } from "zod";

export type RunTimeouts = {
  /** How long a submission may take. The attempt lease outlives it by a margin. */
  submitSeconds: number;
  /** How long to wait for the callback of a submission with an unknown outcome. */
  unknownSeconds: number;
  /** How long after a negative lookup the job is looked up again before it is submitted again. */
  lookupGraceSeconds: number;
  /** How long a run may wait, and how long a request that was submitted may take. */
  deadlineSeconds: number;
  /** How long a request may wait for its run. */
  syncSeconds: number;
  /** How long a request of the OpenAI-compatible API may wait for its run. */
  clientWaitSeconds: number;
};

export type RunSettings = {
  timeouts: RunTimeouts;
  /** Runs that one worker process executes at a time. */
  workerSlots: number;
  /** Bytes of fetched sources and results that one worker process holds in memory until they are stored. */
  byteBudget: number;
  /** Bytes of sent files that one API process holds in memory while they are inspected. */
  fileBytes: number;
  /** Bytes of the largest result that is stored. */
  maxOutputBytes: number;
  eventRetentionDays: number;
  /** Share of all stored objects that one sweep may delete as orphans. */
  maxOrphanShare: number;
  /** Days after a restore of the database in which no orphan is deleted. 0: no hold. */
  orphanHoldDays: number;
  /** Days after which ended runs are archived, for tenants without a value of their own. 0: never. */
  archiveAfterDays: number;
};

export const RunLimitsEnv = z.object({
  SUBMIT_SECONDS: z.coerce.number().default(30).describe("Timeout of a submission to a provider, in seconds"),
  UNKNOWN_SECONDS: z.coerce
    .number()
    .default(120)
    .describe("Seconds to wait for the callback of a submission with an unknown outcome"),
  LOOKUP_GRACE_SECONDS: z.coerce
    .number()
    .default(10)
    .describe("Seconds to wait before Gesso submits a job again that the provider does not know"),
  RUN_DEADLINE_SECONDS: z.coerce
    .number()
    .default(600)
    .describe("Seconds that a run may wait. A request that was submitted in time gets as long again"),
  SYNC_SECONDS: z.coerce.number().default(55).describe("Maximum wait for a run within one request, in seconds"),
  OPENAI_WAIT_SECONDS: z.coerce
    .number()
    .min(1)
    .max(290)
    .default(290)
    .describe("Maximum wait for a run within one request of the OpenAI-compatible API, in seconds, 1 to 290"),
  BREAKER_FAILURES: z.coerce
    .number()
    .int()
    .min(1)
    .default(5)
    .describe("Consecutive failures that open an offer's circuit breaker"),
  BREAKER_SECONDS: z.coerce
    .number()
    .default(15)
    .describe("Seconds that the circuit breaker stays open; doubles with every opening, at most 300"),
  WORKER_SLOTS: z.coerce
    .number()
    .int()
    .min(1)
    .default(48)
    .describe("Runs that one worker process executes at a time; runs that wait for a provider do not count"),
  SOURCE_BUFFER_MEGABYTES: z.coerce
    .number()
    .int()
    .min(25)
    .default(512)
    .describe(
      "Megabytes of fetched source images and of results that one worker process holds in memory until they are " +
        "stored. Large videos are streamed and use 32 MB each",
    ),
  FILE_MEGABYTES: z.coerce
    .number()
    .int()
    .min(25)
    .default(64)
    .describe(
      "Megabytes of sent files that one API process holds in memory while it inspects, decodes or verifies them; others " +
        "wait on disk, and tenants take turns",
    ),
  MAX_OUTPUT_MEGABYTES: z.coerce
    .number()
    .int()
    .min(1)
    .default(4096)
    .describe(
      "Largest result that Gesso stores, in megabytes. The run of a larger one waits for a higher value until its deadline",
    ),
});

export const RetentionEnv = z.object({
  RETENTION_DAYS: z.coerce
    .number()
    .int()
    .min(0)
    .default(30)
    .describe("Days to keep a run's files after it ends. 0: forever"),
  EVENT_DAYS: z.coerce.number().int().min(1).default(30).describe("Days to keep events"),
  ARCHIVE_AFTER_DAYS: z.coerce
    .number()
    .int()
    .min(0)
    .max(36_500)
    .default(0)
    .describe("Days after which ended runs and audit entries move from PostgreSQL to the archive in storage. 0: never"),
  ORPHAN_SHARE: z.coerce
    .number()
    .min(0)
    .max(1)
    .default(0.01)
    .describe("Maximum share of all stored objects that one sweep deletes as orphans, 0 to 1. 0: delete none"),
  ORPHAN_HOLD_DAYS: z.coerce
    .number()
    .int()
    .min(0)
    .max(36_500)
    .default(7)
    .describe(
      "Days after a restore or a failover of PostgreSQL in which no orphan is deleted: files of a lost period have no " +
        "rows. 0: no hold",
    ),
});

const MEGABYTE = 1024 * 1024;

type Env = z.output<typeof RunLimitsEnv> & z.output<typeof RetentionEnv>;

export const parseRunSettings = (env: Env): RunSettings => ({
  timeouts: {
    submitSeconds: env.SUBMIT_SECONDS,
    unknownSeconds: env.UNKNOWN_SECONDS,
    lookupGraceSeconds: env.LOOKUP_GRACE_SECONDS,
    deadlineSeconds: env.RUN_DEADLINE_SECONDS,
    syncSeconds: env.SYNC_SECONDS,
    clientWaitSeconds: env.OPENAI_WAIT_SECONDS,
  },
  workerSlots: env.WORKER_SLOTS,
  byteBudget: env.SOURCE_BUFFER_MEGABYTES * MEGABYTE,
  fileBytes: env.FILE_MEGABYTES * MEGABYTE,
  maxOutputBytes: env.MAX_OUTPUT_MEGABYTES * MEGABYTE,
  eventRetentionDays: env.EVENT_DAYS,
  maxOrphanShare: env.ORPHAN_SHARE,
  orphanHoldDays: env.ORPHAN_HOLD_DAYS,
  archiveAfterDays: env.ARCHIVE_AFTER_DAYS,
});
