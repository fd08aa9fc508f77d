// Schemas of events, shared by event streams and webhooks.
import { z } from "zod";
import { BudgetOwner } from "./budgets.ts";
import { ErrorBody, Run } from "./run.ts";

/** Status and outputs of a run, without prompts and secrets. */
const RunSummary = Run.pick({
  run_id: true,
  status: true,
  live_status: true,
  run_type: true,
  parent_run_id: true,
  end_user: true,
  customer: true,
  progress: true,
  image_url: true,
  video_url: true,
  outputs: true,
  warnings: true,
  metadata: true,
  created_at: true,
  updated_at: true,
  expires_at: true,
}).extend({ error: ErrorBody.nullable().describe("Error of a failed or canceled run. null otherwise") });
export type RunSummary = z.infer<typeof RunSummary>;

const BudgetAlert = z.object({
  budget_id: z.uuid().describe("ID of the spending limit"),
  of: BudgetOwner.describe("Whose limit it is"),
  period: z.enum(["hour", "day", "month"]),
  limit: z.number().describe("Limit in US dollars"),
  used: z.number().describe("Cost of ended runs plus reserves of open runs, in US dollars"),
  share: z.number().describe("Share of `alert_at` that is used"),
  currency: z.literal("USD"),
});

/** The data of each type of event. A new type needs a row here. */
export const EVENT_DATA = {
  "run.queued": RunSummary,
  "run.processing": RunSummary,
  "run.progress": RunSummary,
  "run.completed": RunSummary,
  "run.failed": RunSummary,
  "run.canceled": RunSummary,
  "webhook.test": z.object({ webhook_id: z.uuid() }),
  "webhook_endpoint.disabled": z.object({
    webhook_id: z.uuid(),
    url: z.string(),
    reason: z.string().describe("Why Gesso disabled the endpoint"),
    disabled_at: z.iso.datetime(),
    failing_since: z.iso.datetime().nullable(),
  }),
  "credits.low": z.object({
    balance: z.number().describe("Remaining balance in US dollars"),
    low_at: z.number().describe("Balance below which Gesso sends this event"),
    currency: z.literal("USD"),
  }),
  "budget.warning": BudgetAlert,
  "budget.reached": BudgetAlert,
  "api_key.revoked": z.object({
    key_id: z.uuid(),
    name: z.string(),
    hint: z.string().describe("Last characters of the key"),
    user_id: z.string(),
    revoked_by: z.string().describe("User who revoked the key"),
    revoked_at: z.iso.datetime(),
  }),
} satisfies Record<string, z.ZodObject>;
export type EventType = keyof typeof EVENT_DATA;
export const EVENT_TYPES = Object.keys(EVENT_DATA) as [EventType, ...EventType[]];

export const Event = z
  .object({
    event_id: z.string().describe("Event ID. The same in event streams and in the `webhook-id` header"),
    type: z.string().describe("Event type, such as run.completed"),
    timestamp: z.iso.datetime().describe("Time of the event"),
    data: RunSummary.partial().loose().describe("Summary of the run, for events of runs"),
  })
  .meta({ id: "Event" });
export type Event = z.infer<typeof Event>;

export const EventPage = z
  .object({
    data: z.array(
      Event.extend({ id: z.string().describe("Position in the event log. Later events have greater IDs") }),
    ),
    last_id: z.string().nullable().describe("Pass it as `after` to continue from here"),
  })
  .meta({ id: "EventPage" });
export type EventPage = z.infer<typeof EventPage>;

/** Selects events of a tenant. An absent field does not filter. */
export type EventFilter = {
  run_id?: string | undefined;
  types?: readonly string[] | undefined;
  run_type?: string | undefined;
};
