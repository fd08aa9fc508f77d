import { z } from "zod";
import { SkippedEvent } from "../../contract/schemas/admin-repairs.ts";
import { skipSetAsideEvent } from "../../db/webhooks/set-aside-events.ts";
import { Fault } from "../../faults/faults.ts";
import { defineQuery } from "../define-query.ts";

export const skipEvent = defineQuery({
  name: "admin.skipEvent",
  summary: "Give up an event that cannot become webhook messages (operator)",
  http: { method: "POST", path: "/admin/events/:event_id/skip" },
  changes: "installation",
  input: z.object({ event_id: z.uuid().describe("ID of the event") }),
  output: SkippedEvent,
  example: { event_id: "01990c3e-2f00-7000-8000-6f0c1a2b3c4d" },
  async handle({ event_id }, { database, caller }) {
    if (!(await skipSetAsideEvent(database, caller, event_id))) throw new Fault("route_not_found");
    return { event_id, state: "skipped" as const };
  },
});
