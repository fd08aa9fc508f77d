// How long things may take. Settings, because a test and a power user want other figures than most.
import { z } from "zod";
import type { RunTimeouts } from "./services.ts";

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
  RUN_DEADLINE_SECONDS: z.coerce.number().default(600).describe("Deadline of a run, in seconds"),
  SYNC_SECONDS: z.coerce.number().default(55).describe("Maximum wait for a run within one request, in seconds"),
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
});

export const parseRunTimeouts = (env: z.output<typeof RunLimitsEnv>): RunTimeouts => ({
  submitSeconds: env.SUBMIT_SECONDS,
  unknownSeconds: env.UNKNOWN_SECONDS,
  lookupGraceSeconds: env.LOOKUP_GRACE_SECONDS,
  deadlineSeconds: env.RUN_DEADLINE_SECONDS,
  syncSeconds: env.SYNC_SECONDS,
});
