// Protection from cross-site requests: the session cookie counts only for requests that a page of this origin sends.
// Browsers set `Sec-Fetch-Site` themselves, and no script can change it; another origin cannot send the own header
// without a preflight request, which the console's routes never permit.
import type { Context } from "hono";
import { Fault } from "../../faults/faults.ts";

const OWN_HEADER = "x-gesso-console";

export type SameOriginCheck = (context: Context, rule?: { isOwnHeaderRequired: boolean }) => void;

/**
 * Returns a function that throws cross_site_request unless the request comes from a page of `publicUrl`'s origin.
 *
 * `EventSource` cannot send the own header, so a stream passes with `Sec-Fetch-Site` alone. That is safe: such a
 * request is a GET that changes nothing, and the browser hides its response from other origins.
 */
export function createSameOriginCheck(publicUrl: string): SameOriginCheck {
  const { origin } = new URL(publicUrl);
  return (context, { isOwnHeaderRequired } = { isOwnHeaderRequired: true }) => {
    const site = context.req.header("sec-fetch-site");
    // Absent in browsers from before 2023. They send `Origin` with every request that is not a plain GET.
    const isSameOrigin = site === undefined ? context.req.header("origin") === origin : site === "same-origin";
    const hasOwnHeader = context.req.header(OWN_HEADER) === "1";
    if (!isSameOrigin || (isOwnHeaderRequired && !hasOwnHeader)) throw new Fault("cross_site_request");
  };
}
