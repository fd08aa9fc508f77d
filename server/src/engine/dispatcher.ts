// Hands queued runs to the engine. The engine works on whatever it is given and nobody can reorder it there, so it is
// given only as much as the workers can do; the rest waits in PostgreSQL, where one process at a time decides for all
// tenants whose turn it is.
import { countHolders, holdLeases } from "../db/leases.ts";
import type { House } from "../runs/house.ts";
import type { Ingress } from "./ingress.ts";
import { type Loop, startLoop } from "./loop.ts";
import { createRounds, type Rounds } from "./rounds.ts";

const LOOK_MS = 250;
/** How soon to look again where something waits and nothing may start. */
const FULL_MS = 20;
/** How long the others wait for a leader that is gone. */
const LEASE_SECONDS = 6;
const RENEW_MS = 2000;

export async function startDispatcher(house: House, ingress: Ingress, holder: string): Promise<Loop> {
  let rounds: Rounds | undefined;

  const renew = startLoop(
    "dispatcher.lease",
    RENEW_MS,
    async () => {
      const mine = await holdLeases(house.db, holder, ["dispatch", `member/${holder}`], LEASE_SECONDS);
      // Who begins to lead knows nothing of before: all clocks start anew.
      rounds = mine.includes("dispatch") ? (rounds ?? createRounds(house, ingress)) : undefined;
      await rounds?.refresh(await countHolders(house.db, "member/"));
      dispatch.wake();
      return false;
    },
    house.log,
  );

  const dispatch = startLoop(
    "dispatcher",
    LOOK_MS,
    async () => {
      const outcome = await rounds?.go();
      if (outcome === "full") setTimeout(dispatch.wake, FULL_MS).unref();
      return outcome === "more";
    },
    house.log,
  );

  const stopListening = await house.db.listen("gesso_queued", (payload) => {
    for (const word of payload.split(" ")) rounds?.hear(word);
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
