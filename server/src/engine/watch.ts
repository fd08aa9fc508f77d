// Keeps a line open to each provider that has one for news of its jobs. One process listens at a time; news that is missed
// is no loss, because every job is asked about as well.
import { holdLeases } from "../db/leases.ts";
import { hearNews } from "../runs/hear.ts";
import type { House, LiveProvider } from "../runs/house.ts";
import { type Loop, startLoop } from "./loop.ts";

const LOOK_MS = 2000;
const LEASE_SECONDS = 15;
/** News of one job that come faster than this say nothing new to anybody. */
const LEAST_MS = 300;

export function startWatch(house: House, live: LiveProvider, holder: string): Loop {
  const { provider, env } = live;
  const lastHeard = new Map<string, number>();
  let line: AbortController | undefined;

  const open = () => {
    const opened = new AbortController();
    line = opened;
    const listening = provider.watch!(
      env,
      (news) => {
        const now = performance.now();
        if (!news.ended && now - (lastHeard.get(news.value) ?? Number.NEGATIVE_INFINITY) < LEAST_MS) return;
        if (news.ended) lastHeard.delete(news.value);
        else lastHeard.set(news.value, now);
        void hearNews(house, provider.id, news).catch((thrown) =>
          house.log.warn({ err: thrown }, "news was not heard"),
        );
      },
      opened.signal,
    );
    void listening
      .catch((thrown) => house.log.warn({ provider: provider.id, err: thrown }, "the line to a provider broke"))
      .finally(() => {
        if (line === opened) line = undefined;
      });
  };

  const loop = startLoop(
    `watch/${provider.id}`,
    LOOK_MS,
    async () => {
      const [mine] = await holdLeases(house.db, holder, [`watch/${provider.id}`], LEASE_SECONDS);
      if (!mine) line?.abort();
      else if (!line) open();
      return false;
    },
    house.log,
  );
  return {
    wake: loop.wake,
    async stop() {
      await loop.stop();
      line?.abort();
    },
  };
}
