import { z } from "zod";
import { afterEventIdField, runId } from "../../contract/fields.ts";
import { defineStream } from "../../contract/operation.ts";
import { EventPage } from "../../contract/schemas/events.ts";

export const runEvents = defineStream({
  name: "runs.events",
  summary: "Stream events of a run until it ends",
  http: { method: "GET", path: "/runs/:run_id/events" },
  input: z.object({ run_id: runId("ID of the run"), after: afterEventIdField() }),
  output: EventPage,
  example: { run_id: "01990c3e-2f00-7000-8000-6f0c1a2b3c4d" },
  events: ({ run_id }) => ({ run_id }),
});
