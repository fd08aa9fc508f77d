// Printed by `npm run generate` from the code; never edited by hand.
import { byId, byIdWith, call, callList, type Call, type ListCall } from "../call.ts";
import type { Connection } from "../connection.ts";
import { boolean, integer, like, list, object, some, text, uuid, words } from "../fields.ts";
import type { CallOptions } from "../settings.ts";
import type { NewWebhook, NewWebhookListener, Webhook, WebhookCall, WebhookDelivery, WebhookDeliveryDetails, WebhookDeliveryPage, WebhookMessage, WebhookPage, WebhookReplay, WebhookSecret } from "./shapes.ts";

/** What `webhooks.create` takes. */
export type WebhooksCreateInput = {
  /** Address that messages are sent to; https, and reachable from the internet */
  url: string;
  /** What it is told of; how runs have ended where nothing is said. Default ["run.completed","run.failed","run.canceled"] */
  events?: Array<"run.completed" | "run.failed" | "run.canceled" | "run.processing" | "run.progress" | "webhook_endpoint.disabled" | "credits.low" | "api_key.revoked">;
  /** What it is for */
  description?: string | null;
  /** A secret of yours to sign with, 16 to 255 bytes; one is made where you give none */
  secret?: string;
};

/** What `webhooks.deliveries.list` takes. */
export type WebhooksDeliveriesListInput = {
  /** How many a page. 1 to 100. Default 20 */
  limit?: number;
  /** From `next_cursor` of the page before */
  cursor?: string;
  /** Only those of this webhook */
  webhook_id?: string;
  /** Only those that tell of this run */
  run_id?: string;
  /** Only those that stand so */
  status?: "pending" | "delivered" | "exhausted" | "disabled" | "dropped";
};

/** What `webhooks.list` takes. */
export type WebhooksListInput = {
  /** How many a page. 1 to 100. Default 20 */
  limit?: number;
  /** From `next_cursor` of the page before */
  cursor?: string;
};

/** What `webhooks.listeners.create` takes. */
export type WebhooksListenersCreateInput = {
  /** What it is called in the log of deliveries, such as the name of its machine */
  name: string;
  /** A secret of yours to sign with, 16 to 255 bytes; one is made where you give none */
  secret?: string;
};

/** What `webhooks.listeners.message` takes. */
export type WebhooksListenersMessageInput = {
  /** The event's `id` in the stream */
  place: string;
};

/** What `webhooks.listeners.report` takes. */
export type WebhooksListenersReportInput = {
  /** The event's `id` in the stream */
  place: string;
  /** The `attempt` of the message. 1 to 1000 */
  attempt: number;
  /** When it was begun */
  started_at: string;
  /** How long it took, in milliseconds. 0 to 3600000 */
  duration_ms: number;
  /** What the receiver answered; null where it did not */
  status: number | null;
  /** What went wrong before it could answer, such as timeout or connection. Default null */
  error?: string | null;
  /** The beginning of its answer, as text. Default null */
  response?: string | null;
};

/** What `webhooks.replay` takes. */
export type WebhooksReplayInput = {
  /** From when on, by the time of the event */
  from: string;
  /** Until when; now where nothing is said */
  to?: string;
  /** Leave alone what has arrived. Default true */
  only_failed?: boolean;
};

/** What `webhooks.rotate` takes. */
export type WebhooksRotateInput = {
  /** A secret of yours to sign with, 16 to 255 bytes; one is made where you give none */
  secret?: string;
  /** How long messages are signed with the old secret too, in seconds. 0 to 604800. Default 86400 */
  overlap_seconds?: number;
};

/** What `webhooks.secret.rotate` takes. */
export type WebhooksSecretRotateInput = {
  /** A secret of yours to sign with, 16 to 255 bytes; one is made where you give none */
  secret?: string;
  /** How long messages are signed with the old secret too, in seconds. 0 to 604800. Default 86400 */
  overlap_seconds?: number;
};

/** What `webhooks.test` takes. */
export type WebhooksTestInput = {
  /** What it looks like; an event of a run tells of one that there never was. Default "webhook.test" */
  type?: "webhook.test" | "run.completed" | "run.failed" | "run.canceled" | "run.processing" | "run.progress" | "webhook_endpoint.disabled" | "credits.low" | "api_key.revoked";
  /** What such a run would have as its metadata */
  metadata?: Record<string, unknown>;
};

/** What `webhooks.trigger` takes. */
export type WebhooksTriggerInput = {
  /** What it looks like; an event of a run tells of one that there never was. Default "webhook.test" */
  type?: "webhook.test" | "run.completed" | "run.failed" | "run.canceled" | "run.processing" | "run.progress" | "webhook_endpoint.disabled" | "credits.low" | "api_key.revoked";
  /** What such a run would have as its metadata */
  metadata?: Record<string, unknown>;
};

/** What `webhooks.update` takes. */
export type WebhooksUpdateInput = {
  /** Address that messages are sent to; https, and reachable from the internet */
  url?: string;
  /** All that it is told of from now on */
  events?: Array<"run.completed" | "run.failed" | "run.canceled" | "run.processing" | "run.progress" | "webhook_endpoint.disabled" | "credits.low" | "api_key.revoked">;
  /** What it is for */
  description?: string | null;
  /** What waits to be sent is given up when it is switched off */
  enabled?: boolean;
};

/** The operations `webhooks.*`. */
export type Webhooks = {
  /**
   * Have events sent to an address of yours; the secret is shown in this answer and never again.
   * @example await client.webhooks.create({ url: "https://example.com/hooks/gesso", events: ["run.completed","run.failed"] })
   */
  create: (input: WebhooksCreateInput, options?: CallOptions) => Call<NewWebhook>;
  /**
   * Take a webhook away, with its secrets and everything that it was still to be sent.
   * @example await client.webhooks.delete("01990c3e-2f00-7000-8000-6f0c1a2b3c4d")
   */
  delete: (webhook_id: string, options?: CallOptions) => Call<Webhook>;
  deliveries: {
    /**
     * A message exactly as it is sent, and every attempt to send it.
     * @example await client.webhooks.deliveries.get("01990c3e-2f00-7000-8000-6f0c1a2b3c4d")
     */
    get: (delivery_id: string, options?: CallOptions) => Call<WebhookDeliveryDetails>;
    /**
     * What was sent, is being sent and could not be sent, newest first.
     * @example await client.webhooks.deliveries.list()
     */
    list: (input?: WebhooksDeliveriesListInput, options?: CallOptions) => ListCall<WebhookDeliveryPage>;
    /**
     * Send a message again, at once and with the same id and bytes.
     * @example await client.webhooks.deliveries.redeliver("01990c3e-2f00-7000-8000-6f0c1a2b3c4d")
     */
    redeliver: (delivery_id: string, options?: CallOptions) => Call<WebhookDelivery>;
  };
  /**
   * A webhook, and how it has fared.
   * @example await client.webhooks.get("01990c3e-2f00-7000-8000-6f0c1a2b3c4d")
   */
  get: (webhook_id: string, options?: CallOptions) => Call<Webhook>;
  /**
   * The webhooks of the tenant, newest first.
   * @example await client.webhooks.list()
   */
  list: (input?: WebhooksListInput, options?: CallOptions) => ListCall<WebhookPage>;
  listeners: {
    /**
     * Begin to pass messages on from a machine of your own; the secret is shown in this answer and never again.
     * @example await client.webhooks.listeners.create({ name: "workshop" })
     */
    create: (input: WebhooksListenersCreateInput, options?: CallOptions) => Call<NewWebhookListener>;
    /**
     * An event as a webhook would be sent it, byte for byte, signed for a listener to pass on.
     * @example await client.webhooks.listeners.message("01990c3e-2f00-7000-8000-6f0c1a2b3c4d", { place: "00000000a1b2-00000000c3d4" })
     */
    message: (listener_id: string, input: WebhooksListenersMessageInput, options?: CallOptions) => Call<WebhookMessage>;
    /**
     * Say what came of passing a message on, for the log of deliveries.
     * @example await client.webhooks.listeners.report("01990c3e-2f00-7000-8000-6f0c1a2b3c4d", { place: "00000000a1b2-00000000c3d4", attempt: 1, started_at: "2026-11-14T10:00:00Z", duration_ms: 12, status: 204 })
     */
    report: (listener_id: string, input: WebhooksListenersReportInput, options?: CallOptions) => Call<WebhookDelivery>;
  };
  /**
   * Send a webhook the events of a time again, also those that it was never sent; their ids stay the same.
   * @example await client.webhooks.replay("01990c3e-2f00-7000-8000-6f0c1a2b3c4d", { from: "2026-11-14T10:00:00Z" })
   */
  replay: (webhook_id: string, input: WebhooksReplayInput, options?: CallOptions) => Call<WebhookReplay>;
  /**
   * Give a webhook a new secret; for a while messages are signed with both.
   * @example await client.webhooks.rotate("01990c3e-2f00-7000-8000-6f0c1a2b3c4d", { overlap_seconds: 86400 })
   */
  rotate: (webhook_id: string, input?: WebhooksRotateInput, options?: CallOptions) => Call<NewWebhook>;
  secret: {
    /**
     * Give the tenant a new secret, which signs for runs that name an address and bring no secret.
     * @example await client.webhooks.secret.rotate({ overlap_seconds: 86400 })
     */
    rotate: (input?: WebhooksSecretRotateInput, options?: CallOptions) => Call<WebhookSecret>;
  };
  /**
   * Send a message to a webhook, to see whether it arrives; a `webhook.test` is tried once, others as often as real ones.
   * @example await client.webhooks.test("01990c3e-2f00-7000-8000-6f0c1a2b3c4d", { type: "webhook.test" })
   */
  test: (webhook_id: string, input?: WebhooksTestInput, options?: CallOptions) => Call<WebhookDelivery>;
  /**
   * Have whoever listens pass a message on, to see whether it arrives; webhooks are not told of it.
   * @example await client.webhooks.trigger({ type: "run.completed", metadata: {"order":"4711"} })
   */
  trigger: (input?: WebhooksTriggerInput, options?: CallOptions) => Call<WebhookCall>;
  /**
   * Change where a webhook goes and what it is told of, or switch it off and on.
   * - Give at least one of url, events, description, enabled.
   * @example await client.webhooks.update("01990c3e-2f00-7000-8000-6f0c1a2b3c4d", { enabled: true })
   */
  update: (webhook_id: string, input?: WebhooksUpdateInput, options?: CallOptions) => Call<Webhook>;
};

/**
 * The operations of this group on a connection of their own.
 * @example const webhooks = webhooksOf(connect({ baseUrl, apiKey }))
 */
export function webhooksOf(connection: Connection): Webhooks {
  return {
    create: call(connection, {
      name: "webhooks.create",
      path: "/api/v1/webhooks",
      bodies: "json",
      creates: true,
      required: ["url"],
      fields: { url: text(1, 2048, "^https?:\\/\\/\\S+$"), events: list(words("run.completed", "run.failed", "run.canceled", "run.processing", "run.progress", "webhook_endpoint.disabled", "credits.low", "api_key.revoked"), 1, 8), description: { anyOf: [text(0, 500), {"type":"null"}] }, secret: text() },
    }),
    delete: byId(call(connection, {
      name: "webhooks.delete",
      method: "DELETE",
      path: "/api/v1/webhooks/{webhook_id}",
      required: ["webhook_id"],
      fields: { webhook_id: uuid },
    }), "webhook_id"),
    deliveries: {
      get: byId(call(connection, {
        name: "webhooks.deliveries.get",
        method: "GET",
        path: "/api/v1/webhooks/deliveries/{delivery_id}",
        required: ["delivery_id"],
        fields: { delivery_id: uuid },
      }), "delivery_id"),
      list: callList(connection, {
        name: "webhooks.deliveries.list",
        method: "GET",
        path: "/api/v1/webhooks/deliveries",
        fields: { limit: integer(1, 100), cursor: text(0, 1024), webhook_id: uuid, run_id: uuid, status: words("pending", "delivered", "exhausted", "disabled", "dropped") },
      }),
      redeliver: byId(call(connection, {
        name: "webhooks.deliveries.redeliver",
        path: "/api/v1/webhooks/deliveries/{delivery_id}/redeliver",
        required: ["delivery_id"],
        fields: { delivery_id: uuid },
      }), "delivery_id"),
    },
    get: byId(call(connection, {
      name: "webhooks.get",
      method: "GET",
      path: "/api/v1/webhooks/{webhook_id}",
      required: ["webhook_id"],
      fields: { webhook_id: uuid },
    }), "webhook_id"),
    list: callList(connection, {
      name: "webhooks.list",
      method: "GET",
      path: "/api/v1/webhooks",
      fields: { limit: integer(1, 100), cursor: text(0, 1024) },
    }),
    listeners: {
      create: call(connection, {
        name: "webhooks.listeners.create",
        path: "/api/v1/webhooks/listeners",
        bodies: "json",
        creates: true,
        required: ["name"],
        fields: { name: like("^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$"), secret: text() },
      }),
      message: byIdWith(call(connection, {
        name: "webhooks.listeners.message",
        path: "/api/v1/webhooks/listeners/{listener_id}/message",
        bodies: "json",
        creates: true,
        required: ["listener_id","listener_id","place"],
        fields: { listener_id: uuid, place: like("^[0-9a-f]{12}-[0-9a-f]{12}$") },
      }), "listener_id"),
      report: byIdWith(call(connection, {
        name: "webhooks.listeners.report",
        path: "/api/v1/webhooks/listeners/{listener_id}/report",
        bodies: "json",
        creates: true,
        required: ["listener_id","listener_id","place","attempt","started_at","duration_ms","status"],
        fields: { listener_id: uuid, place: like("^[0-9a-f]{12}-[0-9a-f]{12}$"), attempt: integer(1, 1000), started_at: text(), duration_ms: integer(0, 3600000), status: { anyOf: [integer(100, 599), {"type":"null"}] }, error: { anyOf: [text(0, 100), {"type":"null"}] }, response: { anyOf: [text(0, 1024), {"type":"null"}] } },
      }), "listener_id"),
    },
    replay: byIdWith(call(connection, {
      name: "webhooks.replay",
      path: "/api/v1/webhooks/{webhook_id}/replay",
      bodies: "json",
      creates: true,
      required: ["webhook_id","webhook_id","from"],
      fields: { webhook_id: uuid, from: text(), to: text(), only_failed: boolean },
    }), "webhook_id"),
    rotate: byIdWith(call(connection, {
      name: "webhooks.rotate",
      path: "/api/v1/webhooks/{webhook_id}/rotate",
      bodies: "json",
      creates: true,
      required: ["webhook_id","webhook_id"],
      fields: { webhook_id: uuid, secret: text(), overlap_seconds: integer(0, 604800) },
    }), "webhook_id"),
    secret: {
      rotate: call(connection, {
        name: "webhooks.secret.rotate",
        path: "/api/v1/webhooks/secret/rotate",
        bodies: "json",
        creates: true,
        fields: { secret: text(), overlap_seconds: integer(0, 604800) },
      }),
    },
    test: byIdWith(call(connection, {
      name: "webhooks.test",
      path: "/api/v1/webhooks/{webhook_id}/test",
      bodies: "json",
      creates: true,
      required: ["webhook_id","webhook_id"],
      fields: { webhook_id: uuid, type: words("webhook.test", "run.completed", "run.failed", "run.canceled", "run.processing", "run.progress", "webhook_endpoint.disabled", "credits.low", "api_key.revoked"), metadata: object },
    }), "webhook_id"),
    trigger: call(connection, {
      name: "webhooks.trigger",
      path: "/api/v1/webhooks/trigger",
      bodies: "json",
      creates: true,
      fields: { type: words("webhook.test", "run.completed", "run.failed", "run.canceled", "run.processing", "run.progress", "webhook_endpoint.disabled", "credits.low", "api_key.revoked"), metadata: object },
    }),
    update: byIdWith(call(connection, {
      name: "webhooks.update",
      method: "PATCH",
      path: "/api/v1/webhooks/{webhook_id}",
      bodies: "json",
      required: ["webhook_id","webhook_id"],
      fields: { webhook_id: uuid, url: text(1, 2048, "^https?:\\/\\/\\S+$"), events: list(words("run.completed", "run.failed", "run.canceled", "run.processing", "run.progress", "webhook_endpoint.disabled", "credits.low", "api_key.revoked"), 1, 8), description: { anyOf: [text(0, 500), {"type":"null"}] }, enabled: boolean },
      rules: [some("url", "events", "description", "enabled")],
    }), "webhook_id"),
  } as unknown as Webhooks;
}
