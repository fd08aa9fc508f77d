// What operations on tenants, members, keys and tokens use. Each names the members that it needs.
import type { Database } from "../db/connect.ts";
import type { Clock, Ids } from "../runtime/clock.ts";
import type { AccessTokens } from "./tokens/access-tokens.ts";

export type AccessDependencies = {
  /** Not scoped to a tenant; for operations of the operator, and for the archive of a tenant. */
  systemDatabase: Database;
  accessTokens: AccessTokens;
  ids: Ids;
  /** The first characters of new keys. */
  cell: string;
  clock: Pick<Clock, "now">;
  publicUrl: string;
  /** Whether the installation has a certificate that signs outputs. */
  canSign: boolean;
  /** Makes changed keys, members and tenants effective at once in this process. */
  invalidateCredentials(): void;
};
