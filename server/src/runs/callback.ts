// A provider calls back. What it says is only a reason to look: a ticket that was lost is adopted, the run is woken, and
// the truth is read by the run itself.
import { findWaiting, keepTicket } from "../db/attempts.ts";
import { noteProgress } from "../db/open-runs.ts";
import { Fault } from "../faults.ts";
import type { CallbackRequest } from "../providers/provider.ts";
import type { House } from "./house.ts";
import { idWithin } from "./ids.ts";
import { providerContext } from "./provider-context.ts";

export type CallbackAddress = { provider: string; run_id: string; job: number; try: number };

export async function takeCallback(house: House, address: CallbackAddress, request: CallbackRequest): Promise<void> {
  const live = house.providers.find(({ provider }) => provider.id === address.provider);
  const word = await live?.provider.callback?.(request, providerContext(house, live, address)).catch(() => undefined);
  if (!live || !word) throw new Fault("route_not_found");

  const waiting = await findWaiting(house.db, address);
  if (!waiting || waiting.provider !== address.provider) throw new Fault("route_not_found");
  const isLost = waiting.state === "intent" || waiting.state === "unknown";
  // It may have overtaken the answer to the submission, or be the only trace of it.
  if (isLost) await keepTicket(house.db, address, { ticket: word.ticket }, 2);
  if (!word.ended && word.progress !== undefined) {
    await noteProgress(house.db, address.run_id, word.progress, idWithin(address.run_id, "progress", word.progress));
  }
  if (word.ended && waiting.wake_id) await house.ring(waiting.wake_id, "ended");
}
