// What is told of runs and of a tenant's affairs, in streams and in webhooks alike.
import { z } from "zod";
import { ErrorBody, Run } from "./run.ts";

export const EVENT_TYPES = [
  "run.queued",
  "run.processing",
  "run.progress",
  "run.completed",
  "run.failed",
  "run.canceled",
  "webhook.test",
  "webhook_endpoint.disabled",
  "credits.low",
  "api_key.revoked",
] as const;

/** A run in short: how it stands, and what it made. Neither prompts nor secrets. */
const RunSummary = Run.pick({
  run_id: true,
  status: true,
  live_status: true,
  run_type: true,
  parent_run_id: true,
  progress: true,
  image_url: true,
  video_url: true,
  outputs: true,
  warnings: true,
  metadata: true,
  created_at: true,
  updated_at: true,
  expires_at: true,
}).extend({ error: ErrorBody.nullable().describe("Why the run failed; null otherwise") });
export type RunSummary = z.infer<typeof RunSummary>;

export const Event = z
  .object({
    event_id: z.string().describe("Event ID. The same in event streams and in the `webhook-id` header"),
    type: z.string().describe("What has happened, such as run.completed"),
    timestamp: z.iso.datetime().describe("When it happened"),
    data: RunSummary.partial().loose().describe("The run in short, for events of runs"),
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

/** Which events somebody wants. All of the tenant's where nothing is said. */
export type EventFilter = {
  run_id?: string | undefined;
  types?: readonly string[] | undefined;
  run_type?: string | undefined;
};
