// What the HTTP layer uses. Built once per API process in `main.ts`.
import type { AccessDependencies } from "../access/access-services.ts";
import type { Authenticator } from "../access/authentication.ts";
import type { ConsoleLogin } from "../access/console-login.ts";
import type { ConsoleSessions } from "../access/console-sessions.ts";
import type { CursorSigner } from "../access/cursors.ts";
import type { CliIssuer, Issuers } from "../access/issuers.ts";
import type { SignInLimit } from "../access/sign-in-limit.ts";
import type { AdminDependencies } from "../admin/admin-services.ts";
import type { Database } from "../db/connect.ts";
import type { EventStreams } from "../events/event-streams.ts";
import type { ClientRequests } from "../idempotency/client-requests.ts";
import type { OperationDependencies } from "../library/operation-services.ts";
import type { AcceptDependencies } from "../runs/accept-run.ts";
import type { RunWaiter } from "../runs/run-waiter.ts";
import type { Services } from "../runs/services.ts";
import type { WebhookStoreDependencies } from "../webhooks/webhook-store.ts";
import type { Admission } from "./admission.ts";
import type { FindClientAddress } from "./client-address.ts";

/** `database` is not scoped to a tenant; `handleOperation` replaces it by the scoped one of the request. */
export type RunApiServices = AcceptDependencies &
  OperationDependencies &
  Pick<Services, "log" | "metrics" | "openSnapshot"> & { database: Database };

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
  webhooks: WebhookStoreDependencies;
  access: AccessDependencies;
  admin: AdminDependencies;
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
