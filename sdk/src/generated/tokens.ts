// Printed by `npm run generate` from the code; never edited by hand.
import { call, type Call } from "../call.ts";
import type { Connection } from "../connection.ts";
import { integer, like, list, number } from "../fields.ts";
import type { CallOptions } from "../settings.ts";
import type { Token } from "./shapes.ts";

/** What `tokens.create` takes. */
export type TokensCreateInput = {
  /** Seconds that it works, at most a day; never longer than the key that asks. 1 to 86400. Default 900 */
  expires_in?: number;
  /** What it may do, never more than the key that asks; everything that one may where left out */
  scopes?: string[];
  /** The only origin whose pages may use it */
  origin?: string;
  /** US dollars that may be spent with it in all. 0 to 1000000000 */
  max_spend?: number;
};

/** The operations `tokens.*`. */
export type Tokens = {
  /**
   * Mint a short-lived access token, for a browser or another place where a key must not be.
   * @example await client.tokens.create({ expires_in: 900, scopes: ["images:write","runs:read"], origin: "https://app.example.com", max_spend: 2 })
   */
  create: (input?: TokensCreateInput, options?: CallOptions) => Call<Token>;
};

/**
 * The operations of this group on a connection of their own.
 * @example const tokens = tokensOf(connect({ baseUrl, apiKey }))
 */
export function tokensOf(connection: Connection): Tokens {
  return {
    create: call(connection, {
      name: "tokens.create",
      path: "/api/v1/tokens",
      bodies: "json",
      creates: true,
      fields: { expires_in: integer(1, 86400), scopes: list(like("^(\\*|\\*:read|[a-z][a-z-]{0,30}:(read|write|\\*))$"), 1, 64), origin: like("^https?:\\/\\/[a-z0-9.-]+(:\\d{1,5})?$"), max_spend: number(0, 1000000000) },
    }),
  } as unknown as Tokens;
}
