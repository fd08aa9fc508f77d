// Keeps a line open to each provider that has one for news of its jobs. One process listens at a time; news that is missed
// is no loss, because every job is asked about as well.
import { acquireLeases } from "../db/leases.ts";
import { handleJobNotification } from "../runs/job-notification.ts";
import type { EnabledProvider, Services } from "../runs/services.ts";
import { type Loop, startLoop } from "./loop.ts";

const LEASE_CHECK_MS = 2000;
const LEASE_SECONDS = 15;
/** News of one job that come faster than this say nothing new to anybody. */
const MIN_NOTIFICATION_INTERVAL_MS = 300;

export function startJobNotifications(services: Services, live: EnabledProvider, holder: string): Loop {
  const { provider, env } = live;
  const lastNotifiedAt = new Map<string, number>();
  let connection: AbortController | undefined;

  const openConnection = () => {
    const controller = new AbortController();
    connection = controller;
    const listening = provider.watch!(
      env,
      (notification) => {
        const now = performance.now();
        if (
          !notification.ended &&
          now - (lastNotifiedAt.get(notification.value) ?? Number.NEGATIVE_INFINITY) < MIN_NOTIFICATION_INTERVAL_MS
        )
          return;
        if (notification.ended) lastNotifiedAt.delete(notification.value);
        else lastNotifiedAt.set(notification.value, now);
        void handleJobNotification(services, provider.id, notification).catch((thrown) =>
          services.log.warn({ err: thrown }, "handling a job notification failed"),
        );
      },
      controller.signal,
    );
    void listening
      .catch((thrown) =>
        services.log.warn({ provider: provider.id, err: thrown }, "job notification connection failed"),
      )
      .finally(() => {
        if (connection === controller) connection = undefined;
      });
  };

  const loop = startLoop(
    `watch/${provider.id}`,
    LEASE_CHECK_MS,
    async () => {
      const [heldLease] = await acquireLeases(services.db, holder, [`watch/${provider.id}`], LEASE_SECONDS);
      if (!heldLease) connection?.abort();
      else if (!connection) openConnection();
      return false;
    },
    services.log,
  );
  return {
    wake: loop.wake,
    async stop() {
      await loop.stop();
      connection?.abort();
    },
  };
}
