// What the HTTP layer uses. Built once per API process in `main.ts`.
import type { Authenticator } from "../access/authentication.ts";
import type { CursorSigner } from "../access/cursors.ts";
import type { ConsoleLogin } from "../access/sign-in/console-login.ts";
import type { ConsoleSessions } from "../access/sign-in/console-sessions.ts";
import type { SignInLimit } from "../access/sign-in/sign-in-limit.ts";
import type { CliIssuer, Issuers } from "../access/tokens/issuers.ts";
import type { Database } from "../db/connect.ts";
import type { OpenSnapshot } from "../db/snapshot.ts";
import type { EventStreams } from "../events/event-streams.ts";
import type { ClientRequests } from "../idempotency/client-requests.ts";
import type { UploadDependencies } from "../library/upload.ts";
import type { QueryServices } from "../operations/all.ts";
import type { AcceptDependencies } from "../runs/accept/accept-run.ts";
import type { Runtime } from "../runs/core/runtime.ts";
import type { RunWaiter } from "../runs/show/run-waiter.ts";
import type { WebhookService } from "../webhooks/webhook-service.ts";
import type { Admission } from "./admission.ts";
import type { FindClientAddress } from "./client-address.ts";

/** `database` is not scoped to a tenant: `pipeline.ts` replaces it by the scoped one of the request. */
export type RunApiServices = AcceptDependencies &
  Runtime & { database: Database; assets: UploadDependencies["assets"]; openSnapshot(): Promise<OpenSnapshot> };

/** Who sends a request, and whether it is let in. */
type CallerServices = { authenticator: Authenticator; admission: Admission; findClientAddress: FindClientAddress };

/**
 * How people sign in, to the console and on the command line. `issuerIds` and `cliIssuers`: the identity providers that
 * these have a client at.
 */
type SignInServices = {
  sessions: ConsoleSessions;
  login: ConsoleLogin;
  signInLimit: SignInLimit;
  issuers: Pick<Issuers, "verifyLogout">;
  issuerIds: readonly string[];
  cliIssuers: readonly CliIssuer[];
};

export type HttpServices = {
  runs: RunApiServices;
  webhooks: Pick<WebhookService, "signingKeys">;
  /** What the handlers of operations use, without the database, which is the one of each request. */
  queries: Omit<QueryServices, "database">;
  callers: CallerServices;
  cursors: CursorSigner;
  clientRequests: ClientRequests;
  /** How callers follow their runs: by waiting for one, or by reading events. */
  progress: { runWaiter: RunWaiter; streams: EventStreams };
  signIn: SignInServices;
};
