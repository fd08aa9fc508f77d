// Printed by `npm run generate` from the code; never edited by hand.
import { call, type Call } from "../call.ts";
import type { Connection } from "../connection.ts";
import { like, text } from "../fields.ts";
import type { CallOptions } from "../settings.ts";
import type { UsageReport } from "./shapes.ts";

/** What `usage.get` takes. */
export type UsageGetInput = {
  /** First day, in UTC; 29 days before the last where nothing is said */
  from?: string;
  /** Last day, in UTC; today where nothing is said */
  to?: string;
  /** What makes a row of its own: day, key, model, operation, or several with commas. Default "day" */
  by?: string;
};

/** The operations `usage.*`. */
export type Usage = {
  /**
   * What your runs cost, by day, key, model and operation; as a table with `Accept: text/csv`.
   * @example await client.usage.get()
   */
  get: (input?: UsageGetInput, options?: CallOptions) => Call<UsageReport>;
};

/**
 * The operations of this group on a connection of their own.
 * @example const usage = usageOf(connect({ baseUrl, apiKey }))
 */
export function usageOf(connection: Connection): Usage {
  return {
    get: call(connection, {
      name: "usage.get",
      method: "GET",
      path: "/api/v1/usage",
      fields: { from: text(), to: text(), by: like("^(day|key|model|operation)(,(day|key|model|operation))*$") },
    }),
  } as unknown as Usage;
}
