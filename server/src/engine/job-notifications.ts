// Holds a connection to each provider that pushes job notifications. One process at a time listens per provider. A
// missed notification only costs time, because every job is polled too.
import type { Database } from "../db/connect.ts";
import { acquireLeases } from "../db/leases.ts";
import type { OutboundHttp } from "../outbound/outbound-http.ts";
import { handleJobNotification } from "../runs/attempt/provider-callback.ts";
import type { Notifications } from "../runs/core/notifications.ts";
import type { Runtime } from "../runs/core/runtime.ts";
import type { EnabledProvider } from "../runs/offers/provider-registry.ts";
import { type Loop, startLoop } from "./loop.ts";

const LEASE_CHECK_MS = 2000;
const LEASE_SECONDS = 15;
/** Progress notifications of one job that follow each other faster than this are dropped. */
const MIN_NOTIFICATION_INTERVAL_MS = 300;

export type JobNotificationDependencies = Pick<Runtime, "clock" | "log"> & {
  database: Database;
  notifications: Notifications;
  http: Pick<OutboundHttp, "openWebSocket">;
};

export function startJobNotifications(
  services: JobNotificationDependencies,
  { provider, env }: EnabledProvider,
  holder: string,
): Loop {
  const lastNotifiedAt = new Map<string, number>();
  let connection: AbortController | undefined;

  const openConnection = () => {
    const controller = new AbortController();
    connection = controller;
    const listening = provider.watch!(env, {
      onNotification: (notification) => {
        const now = services.clock.monotonic();
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
      openWebSocket: services.http.openWebSocket,
      clock: services.clock,
      signal: controller.signal,
    });
    void listening
      .catch((thrown) =>
        services.log.warn({ provider: provider.id, err: thrown }, "job notification connection failed"),
      )
      .finally(() => {
        if (connection === controller) connection = undefined;
      });
  };

  const loop = startLoop(services, `watch/${provider.id}`, LEASE_CHECK_MS, async () => {
    const [heldLease] = await acquireLeases(services.database, holder, [`watch/${provider.id}`], LEASE_SECONDS);
    if (!heldLease) connection?.abort();
    else if (!connection) openConnection();
    return false;
  });
  return {
    wake: loop.wake,
    async stop() {
      await loop.stop();
      connection?.abort();
    },
  };
}
