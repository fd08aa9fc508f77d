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

/** How people sign in to the console. `issuerIds`: the identity providers that it has a client at. */
export type ConsoleAccess = {
  sessions: ConsoleSessions;
  login: ConsoleLogin;
  signInLimit: SignInLimit;
  issuers: Pick<Issuers, "verifyLogout">;
  issuerIds: readonly string[];
};

export type HttpServices = {
  runs: RunApiServices;
  webhooks: Pick<WebhookService, "signingKeys">;
  /** What the handlers of operations use, without the database, which is the one of each request. */
  queries: Omit<QueryServices, "database">;
  authenticator: Authenticator;
  admission: Admission;
  cursors: CursorSigner;
  runWaiter: RunWaiter;
  clientRequests: ClientRequests;
  streams: EventStreams;
  findClientAddress: FindClientAddress;
  console: ConsoleAccess;
  /** The identity providers that the command line has a client at. */
  cliIssuers: readonly CliIssuer[];
};
