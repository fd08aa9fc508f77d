// What must be done beside the runs themselves, each by one process at a time: poll providers, find lost runs, hold
// deadlines, end the keeping of files, tell of low balances, work the outbox, and notice when the engine has lost its memory.
import { randomUUID } from "node:crypto";
import { findBrokenAudit } from "../db/audit.ts";
import { readMark, setMark } from "../db/engine-mark.ts";
import { dropOldEvents } from "../db/events.ts";
import { holdLeases } from "../db/leases.ts";
import { tellLowCredits } from "../db/ledger.ts";
import { tidy } from "../db/maintenance.ts";
import { requeueAll } from "../db/open-runs.ts";
import { requeueAllDeliveries } from "../db/webhook-queue.ts";
import type { House } from "../runs/house.ts";
import { pollProvider } from "../runs/poll.ts";
import { endOverdue, requeueSilent, workOutbox } from "../runs/reconcile.ts";
import { expire, sweep } from "../runs/retention.ts";
import type { Ingress } from "./ingress.ts";
import { type Loop, startLoop } from "./loop.ts";
import { startWatch } from "./watch.ts";

const LEASE_SECONDS = 15;

export function startDuties(house: House, ingress: Ingress, holder: string, registerAgain: () => Promise<void>): Loop {
  const duty = (name: string, everyMs: number, work: () => Promise<boolean>) =>
    startLoop(
      name,
      everyMs,
      async () => {
        const [mine] = await holdLeases(house.db, holder, [`duty/${name}`], LEASE_SECONDS);
        return mine ? work() : false;
      },
      house.log,
    );

  const loops = [
    duty("silent", 2000, async () => (await requeueSilent(house)) > 0),
    duty("overdue", 5000, async () => (await endOverdue(house)) > 0),
    duty("outbox", 1000, async () => (await workOutbox(house)) > 0),
    duty("memory", 2000, async () => {
      await checkMemory(house, ingress, registerAgain);
      return false;
    }),
    duty("credits", 5000, () => tellLowCredits(house.db, house.newId())),
    duty("expiry", 5000, async () => (await expire(house)) > 0),
    duty("sweep", 6 * 60 * 60 * 1000, async () => {
      await sweep(house);
      return false;
    }),
    duty("tidy", 10 * 60 * 1000, async () => {
      await tidy(house.db);
      await dropOldEvents(house.db, house.eventDays);
      return false;
    }),
    duty("audit", 24 * 60 * 60 * 1000, async () => {
      for (const broken of await findBrokenAudit(house.db))
        house.log.error(broken, "the audit log was changed by hand");
      return false;
    }),
    ...house.providers.map((live) =>
      duty(`poll/${live.provider.id}`, 500, async () => (await pollProvider(house, live)) > 0),
    ),
    ...house.providers.filter(({ provider }) => provider.watch).map((live) => startWatch(house, live, holder)),
  ];
  return {
    wake: () => {},
    stop: async () => {
      await Promise.all(loops.map((loop) => loop.stop()));
    },
  };
}

/** An engine without our mark has lost every run it held: they all start anew, and the paid ones are adopted. */
async function checkMemory(house: House, ingress: Ingress, registerAgain: () => Promise<void>): Promise<void> {
  const inEngine = await ingress.readMark();
  if (inEngine === undefined) {
    await registerAgain();
    return;
  }
  const ours = await readMark(house.db);
  if (inEngine === ours) return;
  const mark = randomUUID();
  const runs = await requeueAll(house.db);
  await requeueAllDeliveries(house.db);
  if (runs > 0) house.log.warn({ runs }, "the engine has lost its memory; open runs are started anew");
  await setMark(house.db, mark);
  await ingress.writeMark(mark);
  house.queued.say("queued");
}
