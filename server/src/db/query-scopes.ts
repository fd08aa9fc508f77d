// A statement with its scope: the role, the tenant, the end user and other settings. They are set by a statement in the
// same packet and the same transaction, ahead of the actual one: no extra round trip, and nothing stays set on the
// connection.
import pg from "pg";

type NamedStatement = { name: string; text: string; values: unknown[] };
type ScopeStatement = { name: string; text: string };

const TENANT_SCOPE: ScopeStatement = {
  name: "scope",
  text: "select set_config('role', 'gesso_app', true), set_config('app.tenant', $1, true)",
};

const END_USER_SCOPE: ScopeStatement = {
  name: "end_user_scope",
  text: `select set_config('role', 'gesso_end_user', true), set_config('app.tenant', $1, true),
    set_config('app.end_user', $2, true)`,
};

/** The settings of a session, for a pooler that gives each transaction another session. */
const POOLED_SCOPE: ScopeStatement = {
  name: "pooled_scope",
  text: `select set_config('role', $1, true), set_config('app.tenant', $2, true),
    set_config('app.end_user', $3, true), set_config('statement_timeout', $4, true),
    set_config('plan_cache_mode', 'force_generic_plan', true),
    set_config('enable_seqscan', 'off', true), set_config('jit', 'off', true)`,
};

/** `endUser`: only the runs of this end user of the tenant; without it, those of all. */
export type TenantScope = { tenantId: string; endUser?: string | undefined };

export type QueryScopes = {
  /** Prepares a new connection for scoped statements. */
  prepare(client: pg.ClientBase): Promise<void>;
  /** Under row-level security. */
  forTenant(statement: NamedStatement, scope: TenantScope): pg.Query;
  withoutTenant(statement: NamedStatement): pg.Query | NamedStatement;
};

/** For connections whose sessions have the role and the settings of statements without a tenant. */
export const createSessionScopes = (): QueryScopes => ({
  async prepare(client) {
    await prepareScope(client, TENANT_SCOPE, [""]);
    await prepareScope(client, END_USER_SCOPE, ["", ""]);
  },
  // Names of their own: PostgreSQL replans a prepared statement whenever the role changes.
  forTenant: (statement, { tenantId, endUser }) =>
    endUser === undefined
      ? scopedQuery({ ...statement, name: `${statement.name}@` }, TENANT_SCOPE, [tenantId])
      : scopedQuery({ ...statement, name: `${statement.name}@user` }, END_USER_SCOPE, [tenantId, endUser]),
  withoutTenant: (statement) => statement,
});

/** For a pooler in transaction mode: every statement brings its role and its settings. */
export function createPooledScopes(role: string, statementMs: number): QueryScopes {
  const scopeOf = (scopeRole: string, tenantId: string, endUser = "") => [
    ...[scopeRole, tenantId, endUser, String(statementMs)],
  ];
  return {
    prepare: (client) => prepareScope(client, POOLED_SCOPE, scopeOf(role, "")),
    // A text of its own: PgBouncer prepares statements with the same text once, whatever their names.
    forTenant: ({ name, text, values }, { tenantId, endUser }) => {
      const [mark, label, role] =
        endUser === undefined ? ["@", "tenant", "gesso_app"] : ["@user", "user", "gesso_end_user"];
      const statement = { name: `${name}${mark}`, text: `${text}\n-- ${label}`, values };
      return scopedQuery(statement, POOLED_SCOPE, scopeOf(role, tenantId, endUser));
    },
    withoutTenant: (statement) => scopedQuery(statement, POOLED_SCOPE, scopeOf(role, "")),
  };
}

/** The part of the driver's connection that is used here; its type declarations leave it out. */
type DriverConnection = {
  stream: { cork(): void; uncork(): void };
  bind(message: { statement: string; values: string[] }): void;
  execute(message: { rows: number }): void;
};
type DriverQuery = {
  submit(wire: DriverConnection): Error | null;
  handleDataRow(message: unknown): void;
  handleCommandComplete(message: unknown, wire: DriverConnection): void;
};

async function prepareScope(client: pg.ClientBase, scope: ScopeStatement, values: string[]): Promise<void> {
  await client.query({ ...scope, values });
}

function scopedQuery(statement: NamedStatement, scope: ScopeStatement, scopeValues: string[]): pg.Query {
  const query = new pg.Query(statement) as unknown as DriverQuery;
  const { submit, handleDataRow, handleCommandComplete } = query;
  let isScopeApplied = false;

  query.submit = (wire) => {
    wire.stream.cork();
    try {
      wire.bind({ statement: scope.name, values: scopeValues });
      wire.execute({ rows: 0 });
      return submit.call(query, wire);
    } finally {
      wire.stream.uncork();
    }
  };
  // The first row and the first completion belong to the scope statement, all later ones to the actual statement.
  query.handleDataRow = (message) => {
    if (isScopeApplied) handleDataRow.call(query, message);
  };
  query.handleCommandComplete = (message, wire) => {
    if (isScopeApplied) handleCommandComplete.call(query, message, wire);
    isScopeApplied = true;
  };
  return query as unknown as pg.Query;
}
