// Reports webhook events that could not become deliveries. They wait until their cause is removed.
import { type ConnectionSettings, connectDatabase } from "../db/connect.ts";
import { countSetAsideEvents } from "../db/webhooks/set-aside-events.ts";
import { rootCauseMessage } from "./check-dependencies.ts";
import type { DoctorCheck } from "./report.ts";

const FIX = "see `Events that were set aside` in the webhooks guide";

export async function checkSetAsideEvents(settings: ConnectionSettings): Promise<DoctorCheck> {
  const name = "webhooks";
  const database = connectDatabase(settings);
  try {
    const { events, tenants, reason } = await countSetAsideEvents(database);
    if (events === 0) return { name, status: "pass", message: "no event is set aside" };
    const message = `${events} ${events === 1 ? "event" : "events"} of ${tenants} ${tenants === 1 ? "tenant" : "tenants"} set aside: ${reason}`;
    return { name, status: "warn", message, fix: FIX };
  } catch (thrown) {
    // Before the first start there is no table.
    return { name, status: "skip", message: `events not readable: ${rootCauseMessage(thrown)}` };
  } finally {
    await database.close();
  }
}
