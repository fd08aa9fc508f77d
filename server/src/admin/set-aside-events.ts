// Events that cannot become webhook messages, for operators: list them, and give one up.
import type { RequestContext } from "../access/request-context.ts";
import { listSetAsideEvents, skipSetAsideEvent } from "../db/webhooks/set-aside-events.ts";
import { Fault } from "../faults.ts";
import type { SetAsideEventList, SkippedEvent } from "../kit/schemas/admin-repairs.ts";

type Caller = Pick<RequestContext, "database" | "caller">;

export async function listSetAsideEventsForOperator(
  { database }: Pick<Caller, "database">,
  limit: number,
): Promise<SetAsideEventList> {
  const rows = await listSetAsideEvents(database, limit);
  return { data: rows.map(({ retry_at, ...row }) => ({ ...row, retry_at: retry_at.toISOString() })) };
}

export async function skipEventByOperator({ database, caller }: Caller, eventId: string): Promise<SkippedEvent> {
  if (!(await skipSetAsideEvent(database, caller, eventId))) throw new Fault("route_not_found");
  return { event_id: eventId, state: "skipped" };
}
