// Printed by `npm run generate` from the code; never edited by hand.
import type { Connection } from "../connection.ts";
import { callStream, type EventStream } from "../events.ts";
import { list, text, uuid, words } from "../fields.ts";
import type { CallOptions } from "../settings.ts";

/** What `events.stream` takes. */
export type EventsStreamInput = {
  /** Only events of these types */
  types?: Array<"run.queued" | "run.processing" | "run.progress" | "run.completed" | "run.failed" | "run.canceled" | "webhook.test" | "webhook_endpoint.disabled" | "credits.low" | "api_key.revoked">;
  /** Only events of runs of this kind */
  run_type?: string;
  /** Only events of this run */
  run_id?: string;
  /** The id of the last event that you have; `Last-Event-ID` says the same, and goes before it */
  after?: string;
};

/** The operations `events.*`. */
export type Events = {
  /**
   * What happens to all your runs, as it happens.
   * @example for await (const event of client.events.stream()) console.log(event.type)
   */
  stream: (input?: EventsStreamInput, options?: CallOptions) => EventStream;
};

/**
 * The operations of this group on a connection of their own.
 * @example const events = eventsOf(connect({ baseUrl, apiKey }))
 */
export function eventsOf(connection: Connection): Events {
  return {
    stream: callStream(connection, {
      name: "events.stream",
      method: "GET",
      path: "/api/v1/events",
      fields: { types: list(words("run.queued", "run.processing", "run.progress", "run.completed", "run.failed", "run.canceled", "webhook.test", "webhook_endpoint.disabled", "credits.low", "api_key.revoked"), 1, 10), run_type: text(0, 64), run_id: uuid, after: text(0, 64) },
    }),
  } as unknown as Events;
}
