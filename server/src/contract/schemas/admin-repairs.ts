// Schemas of what operators repair: runs, attempts whose outcome is unknown, and paused parts of the installation.
import { z } from "zod";
import { RUN_STATUSES } from "./run.ts";

const jobIndex = () => z.int().min(0).max(32_767).describe("Index of the job in the run, from 0");
const attemptNumber = () => z.int().min(1).max(32_767).describe("Attempt number within the job, from 1");

export const RepairedRun = z
  .object({
    run_id: z.uuid().describe("ID of the run"),
    state: z.enum(["ended", "queued", "quarantined"]).describe("State of the run after the change"),
  })
  .meta({ id: "RepairedRun" });
export type RepairedRun = z.infer<typeof RepairedRun>;

const UnknownOutcome = z.object({
  run_id: z.uuid().describe("ID of the run"),
  tenant_id: z.uuid().describe("Tenant of the run"),
  operation: z.string(),
  job: jobIndex(),
  try: attemptNumber(),
  provider: z.string(),
  upstream: z.string().nullable().describe("Name of the model at the provider"),
  idempotency_key: z.string().describe("Key that Gesso sent to the provider"),
  price: z.number().nullable().describe("Expected charge of the provider in US dollars. null: unknown"),
  unknown_since: z.iso.datetime().describe("Since when the outcome is not known"),
  run_status: z.enum(RUN_STATUSES).describe("Gesso still looks for the outcome while the run is open"),
});

export const UnknownOutcomeList = z.object({ data: z.array(UnknownOutcome) }).meta({ id: "UnknownOutcomeList" });
export type UnknownOutcomeList = z.infer<typeof UnknownOutcomeList>;

export const settledOutcomeFields = {
  job: jobIndex(),
  try: attemptNumber(),
  charged: z
    .number()
    .min(0)
    .max(1_000_000)
    .describe("What the provider charged for the attempt, in US dollars. 0: it did not accept the job"),
};

export const SettledOutcome = z
  .object({
    run_id: z.uuid().describe("ID of the run"),
    ...settledOutcomeFields,
    recorded: z.number().describe("Waste that was recorded before, in US dollars. The ledger has the difference"),
  })
  .meta({ id: "SettledOutcome" });
export type SettledOutcome = z.infer<typeof SettledOutcome>;

export const pausedPartFields = {
  provider: z.string().min(1).max(100).optional().describe("Provider that gets no new requests"),
  tenant_id: z.uuid().optional().describe("Tenant whose queued runs do not start"),
  duty: z
    .string()
    .min(1)
    .max(200)
    .optional()
    .describe("Lease of a background duty that stands still, such as `duty/outbox`. `dispatch`: no run starts"),
  worker_id: z
    .uuid()
    .optional()
    .describe("Worker that drains: it gets no new runs and ends those that it has. See `admin.workers`"),
};
export type PausedPart = {
  provider?: string | undefined;
  tenant_id?: string | undefined;
  duty?: string | undefined;
  worker_id?: string | undefined;
};

export const PauseList = z
  .object({
    data: z.array(
      z.object({
        kind: z.enum(["provider", "tenant", "duty", "worker"]),
        name: z.string(),
        paused_at: z.iso.datetime(),
        paused_by: z.string().describe("User who paused it"),
      }),
    ),
  })
  .meta({ id: "PauseList" });
export type PauseList = z.infer<typeof PauseList>;

export const SetAsideEventList = z
  .object({
    data: z.array(
      z.object({
        event_id: z.uuid(),
        run_id: z.uuid(),
        tenant_id: z.uuid(),
        type: z.string().describe("Type of the event"),
        reason: z.string().describe("Error of the last attempt"),
        retry_at: z.iso.datetime().describe("Time of the next attempt"),
      }),
    ),
  })
  .meta({ id: "SetAsideEventList" });
export type SetAsideEventList = z.infer<typeof SetAsideEventList>;

export const SkippedEvent = z
  .object({ event_id: z.uuid(), state: z.literal("skipped").describe("Its message is never sent") })
  .meta({ id: "SkippedEvent" });
export type SkippedEvent = z.infer<typeof SkippedEvent>;

export const RebuiltEngine = z
  .object({
    runs: z.int().describe("Runs that returned to the queue"),
    deliveries: z.int().describe("Webhook deliveries that returned to the queue"),
  })
  .meta({ id: "RebuiltEngine" });
export type RebuiltEngine = z.infer<typeof RebuiltEngine>;
