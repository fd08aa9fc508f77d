// Schemas of what operators see of a run: everything that happened to it, without its prompts, inputs and files.
import { z } from "zod";
import { ErrorBody, RUN_STATUSES } from "./run.ts";

const time = (description: string) => z.iso.datetime().describe(description);
const optionalTime = (description: string) => z.iso.datetime().nullable().describe(description);
const dollars = (description: string) => z.number().describe(description);

const TimelineEntry = z.object({
  at: time("Time of the entry"),
  what: z.string().describe("What happened, in one or two words"),
  detail: z.string().nullable().describe("Provider, outcome, file or author"),
});
export type TimelineEntry = z.infer<typeof TimelineEntry>;

const ExplainedAttempt = z.object({
  job: z.int().describe("Index of the job in the run, from 0"),
  try: z.int().describe("Attempt number within the job, from 1"),
  provider: z.string(),
  upstream: z.string().nullable().describe("Name of the model at the provider"),
  state: z.enum(["intent", "submitted", "succeeded", "failed", "unknown"]),
  price: z.number().nullable().describe("Expected charge of the provider in US dollars. null: unknown"),
  sends: z
    .int()
    .describe(
      "How many requests with the same idempotency key were sent, as far as the workers reported it. A worker that dies while it sends reports nothing",
    ),
  take_overs: z
    .int()
    .describe(
      "How often a worker took over the attempt after its lease had expired, to send again or to save a response",
    ),
  ticket: z.record(z.string(), z.unknown()).nullable().describe("The provider's ID of the job"),
  error: ErrorBody.nullable(),
  created_at: time("Time of the lease, just before the request was sent"),
  lease_until: optionalTime("End of the lease while the request may be in flight"),
  unknown_since: optionalTime("Since when the outcome is not known"),
  submitted_at: optionalTime("Time when the provider accepted the job"),
  finished_at: optionalTime("Time of the end"),
  settled: z
    .number()
    .nullable()
    .describe("What the provider charged, in US dollars, as an operator settled an unknown outcome. null: not settled"),
});
export type ExplainedAttempt = z.infer<typeof ExplainedAttempt>;

const ExplainedBudget = z.object({
  of: z.enum(["tenant", "key"]).describe("Owner of the limit"),
  balance: z.number().nullable().describe("Remaining prepaid balance. null if the tenant is not prepaid"),
  hour_used: dollars("Used this hour, with reserves"),
  hour_limit: z.number().nullable(),
  day_used: dollars("Used today, with reserves"),
  day_limit: z.number().nullable(),
  month_used: dollars("Used this month, with reserves"),
  month_limit: z.number().nullable(),
});

const OpenState = z.object({
  lane: z.string().describe("Provider that the run was planned for. Each tenant has one queue per lane"),
  epoch: z.int().describe("Fencing token: the number of invocations that Gesso gave up"),
  requeues: z.int().describe("How often the run returned to the queue"),
  ahead: z
    .int()
    .nullable()
    .describe("Runs of the tenant that are before this one in its queue. null: not in the queue"),
  dispatched_at: optionalTime("Time when the dispatcher sent the run to the engine. null: it waits in the queue"),
  claim_expires_at: optionalTime("Gesso queues the run again after this time, unless a step renews the claim"),
  deadline_at: time("The run fails after this time"),
  cancel_requested_at: optionalTime("Time of the request to cancel"),
  tenant_suspended: z.boolean(),
  quarantined: z
    .boolean()
    .describe(
      "Whether the run was taken out of execution, by an operator or because workers died while they stored its results",
    ),
  requests: z
    .array(
      z.object({
        job: z.int(),
        activity: z.enum(["working", "waiting_for_slot", "at_provider"]).nullable(),
        provider: z.string().nullable(),
        submitted_at: optionalTime("Time when the provider accepted the job"),
        next_poll_at: optionalTime("Time of the next poll"),
        unreachable_since: optionalTime("Since when the provider does not respond to polls"),
        slot_wanted_since: optionalTime("Since when the request waits for a slot of the provider"),
        claim_expires_at: optionalTime("Gesso queues the run again after this time"),
      }),
    )
    .describe("Provider requests in progress"),
});
export type OpenState = z.infer<typeof OpenState>;

const Invocation = z.object({
  id: z.string().describe("ID of the invocation in Restate"),
  epoch: z.int().describe("Epoch of the run that the invocation has"),
  status: z.string().describe("Status in Restate"),
  created_at: optionalTime("Time of the start"),
  ended_at: optionalTime("Time of the end"),
  retries: z.int().describe("How often Restate sent the invocation to a worker"),
  next_retry_at: optionalTime("Time of the next retry"),
  last_failure: z.string().nullable().describe("Last error of a step, as Restate has it"),
  journal: z
    .array(
      z.object({ at: optionalTime("Time of the entry"), entry: z.string().describe("Kind and name of the entry") }),
    )
    .describe("Entries of the journal, without their content. Restate removes them 10 minutes after the end"),
});
export type Invocation = z.infer<typeof Invocation>;

export const RunExplanation = z
  .object({
    run_id: z.uuid().describe("ID of the run"),
    tenant_id: z.uuid().describe("Tenant of the run"),
    user_id: z.string(),
    key_id: z.uuid().nullable(),
    operation: z.string(),
    status: z.enum(RUN_STATUSES),
    model: z.string().nullable(),
    schema_hash: z.string().nullable().describe("The schema that the input of an imported model was checked with"),
    provider: z.string().nullable(),
    error: ErrorBody.nullable(),
    conclusion: z.string().describe("What the run waits for, or why it ended, in plain sentences"),
    open: OpenState.nullable().describe("State of an open run. null after its end"),
    timeline: z.array(TimelineEntry).describe("What happened, in order"),
    attempts: z.array(ExplainedAttempt),
    money: z.object({
      currency: z.literal("USD"),
      reserved: dollars("Reserved when the run was accepted"),
      charged: dollars("Charged when the run ended"),
      released: dollars("Returned from the reserve when the run ended"),
      wasted: dollars("Charges of providers, certain or possible, for which the caller got nothing"),
      budgets: z.array(ExplainedBudget).describe("Limits of the tenant and the key. Empty without limits"),
    }),
    engine: z.object({
      reachable: z.boolean().describe("Whether Restate responded"),
      invocations: z.array(Invocation),
    }),
    events: z.array(z.object({ at: time("Time of the event"), type: z.string() })),
    deliveries: z.array(
      z.object({
        delivery_id: z.uuid(),
        type: z.string(),
        url: z.string().describe("Receiver, without the query of its URL"),
        status: z.enum(["pending", "delivered", "exhausted", "disabled", "dropped"]),
        attempts: z.int(),
        next_attempt_at: optionalTime("Time of the next attempt"),
        last_status: z.int().nullable().describe("HTTP status of the last response"),
        last_error: z.string().nullable(),
      }),
    ),
    files: z.array(
      z.object({
        asset_id: z.uuid(),
        role: z.string(),
        media_type: z.string(),
        size_bytes: z.int(),
        created_at: time("Time when the file was stored"),
        deleted_at: optionalTime("Time when the file was deleted"),
      }),
    ),
  })
  .meta({ id: "RunExplanation" });
export type RunExplanation = z.infer<typeof RunExplanation>;
