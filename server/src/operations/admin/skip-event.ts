import { z } from "zod";
import { defineOperation } from "../../kit/operation.ts";
import { SkippedEvent } from "../../kit/schemas/admin-repairs.ts";

export const skipEvent = defineOperation({
  name: "admin.skipEvent",
  summary: "Give up an event that cannot become webhook messages (operator)",
  http: { method: "POST", path: "/admin/events/:event_id/skip" },
  changes: "installation",
  input: z.object({ event_id: z.uuid().describe("ID of the event") }),
  output: SkippedEvent,
  example: { event_id: "01990c3e-2f00-7000-8000-6f0c1a2b3c4d" },
  respond: ({ event_id }, services) => services.admin.skipEvent(event_id),
});
