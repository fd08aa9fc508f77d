// How long things may take. Settings, because a test and a power user want other figures than most.
import { z } from "zod";
import type { Limits } from "./house.ts";

export const LimitsEnv = z.object({
  SUBMIT_SECONDS: z.coerce.number().default(30).describe("How long a submission to a provider may take"),
  UNKNOWN_SECONDS: z.coerce.number().default(120).describe("How long the callback of a lost submission is waited for"),
  LOOKUP_GRACE_SECONDS: z.coerce.number().default(10).describe("Pause before a job that was not found is sent again"),
  RUN_DEADLINE_SECONDS: z.coerce.number().default(600).describe("How long a run may take in all"),
  SYNC_SECONDS: z.coerce.number().default(55).describe("How long a caller may wait within one request"),
  BREAKER_FAILURES: z.coerce
    .number()
    .int()
    .min(1)
    .default(5)
    .describe("Failures in a row after which an offer is left alone"),
  BREAKER_SECONDS: z.coerce.number().default(15).describe("How long it is left alone first; then twice as long"),
  WORKER_SLOTS: z.coerce
    .number()
    .int()
    .min(1)
    .default(48)
    .describe("Runs that one worker process works on at a time; those that only wait for a provider are not counted"),
});

export const limitsOf = (env: z.output<typeof LimitsEnv>): Limits => ({
  submitSeconds: env.SUBMIT_SECONDS,
  unknownSeconds: env.UNKNOWN_SECONDS,
  lookupGraceSeconds: env.LOOKUP_GRACE_SECONDS,
  deadlineSeconds: env.RUN_DEADLINE_SECONDS,
  syncSeconds: env.SYNC_SECONDS,
});
