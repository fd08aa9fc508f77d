// Starts queued runs in the engine. Runs that are in the engine cannot be reordered, so only as many are dispatched as
// the workers can execute. The rest stays queued in PostgreSQL, where one leading dispatcher shares capacity between
// tenants.
import { acquireLeases, countLeaseHolders } from "../db/leases.ts";
import { createDispatchRounds, type DispatchDependencies, type DispatchRounds } from "./dispatch-rounds.ts";
import type { EngineClient } from "./engine-client.ts";
import { type Loop, startLoop } from "./loop.ts";

const IDLE_POLL_MS = 250;
/** Delay before the next round while runs are queued and none may start. */
const FULL_RETRY_MS = 20;
/** After this time without renewal, another dispatcher takes over the lead. */
const LEASE_SECONDS = 6;
const RENEW_MS = 2000;

export async function startDispatcher(
  services: DispatchDependencies,
  engineClient: EngineClient,
  holder: string,
): Promise<Loop> {
  let leaderRounds: DispatchRounds | undefined;

  const renew = startLoop(services, "dispatcher.lease", RENEW_MS, async () => {
    const heldLeases = await acquireLeases(services.database, holder, ["dispatch", `member/${holder}`], LEASE_SECONDS);
    if (!heldLeases.includes("dispatch")) {
      leaderRounds = undefined;
      return false;
    }
    // A new leader starts with empty virtual clocks, and only with the weights of all tenants.
    const rounds = leaderRounds ?? createDispatchRounds(services, engineClient);
    await rounds.refresh(await countLeaseHolders(services.database, "member/"));
    leaderRounds = rounds;
    dispatch.wake();
    return false;
  });

  const dispatch = startLoop(services, "dispatcher", IDLE_POLL_MS, async () => {
    const outcome = await leaderRounds?.runRound();
    if (outcome === "full") services.clock.after(FULL_RETRY_MS, dispatch.wake).unref();
    return outcome === "more";
  });

  const stopListening = await services.database.listen("gesso_queued", (payload) => {
    for (const queueName of payload.split(" ")) leaderRounds?.onRunQueued(queueName);
    dispatch.wake();
  });
  return {
    wake: dispatch.wake,
    async stop() {
      await stopListening();
      await Promise.all([renew.stop(), dispatch.stop()]);
    },
  };
}
