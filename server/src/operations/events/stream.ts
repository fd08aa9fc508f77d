import { z } from "zod";
import { afterEventIdField, runId, textField } from "../../contract/fields.ts";
import { defineStream } from "../../contract/operation.ts";
import { EVENT_TYPES, EventPage } from "../../contract/schemas/events.ts";

export const streamEvents = defineStream({
  name: "events.stream",
  summary: "Stream events of all your runs",
  http: { method: "GET", path: "/events" },
  input: z.object({
    types: z
      .array(z.enum(EVENT_TYPES).describe("An event type, such as run.completed"))
      .min(1)
      .max(EVENT_TYPES.length)
      .optional()
      .describe("Only events of these types"),
    run_type: textField("Only events of runs with this run_type", 64).optional(),
    run_id: runId("Only events of this run").optional(),
    after: afterEventIdField(),
  }),
  output: EventPage,
  example: { types: ["run.completed"] },
  events: ({ types, run_type, run_id }) => ({ types, run_type, run_id }),
});
