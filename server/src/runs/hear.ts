// A provider tells its own news of a job over a line that is kept open. It is only a reason to look: progress is noted, and
// a run whose job has ended is woken to read the truth itself.
import { expectSoon, findByTicket, noteProgress } from "../db/open-runs.ts";
import type { News } from "../providers/provider.ts";
import type { House } from "./house.ts";
import { idWithin } from "./ids.ts";

export async function hearNews(house: House, provider: string, news: News): Promise<void> {
  const run = await findByTicket(house.db, provider, news.name, news.value);
  if (!run) return;
  if (news.progress !== undefined) {
    await noteProgress(house.db, run.run_id, news.progress, idWithin(run.run_id, "progress", news.progress));
  }
  if (!news.ended || !run.wake_id) return;
  await house.ring(run.wake_id, "ended");
  await expectSoon(house.db, run.run_id);
}
