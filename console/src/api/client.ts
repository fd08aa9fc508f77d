// The one connection of the page to the server. The cookie of the session is the credential.
import { createClient } from "@gesso/client";
import { CONSOLE_HEADERS } from "./console-headers.ts";
import { fetchWithStepUp } from "./step-up.ts";

/** Paths of operations begin with /api/v1, so they are sent to /console/api/v1. */
export const client = createClient({
  proxyUrl: `${location.origin}/console`,
  headers: CONSOLE_HEADERS,
  fetch: fetchWithStepUp,
});
