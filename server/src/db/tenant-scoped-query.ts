// A statement under row-level security. The role and the tenant are set by a statement in the same packet and the same
// transaction, ahead of the actual one: no extra round trip, and nothing stays set on the connection.
import pg from "pg";

const SET_TENANT_SCOPE = {
  name: "scope",
  text: "select set_config('role', 'gesso_app', true), set_config('app.tenant', $1, true)",
};

type NamedStatement = { name: string; text: string; values: unknown[] };

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

/** Prepares a new connection for scoped statements. */
export async function prepareTenantScope(client: pg.ClientBase): Promise<void> {
  await client.query({ ...SET_TENANT_SCOPE, values: [""] });
}

export function tenantScopedQuery(statement: NamedStatement, tenantId: string): pg.Query {
  // A name of its own: PostgreSQL replans a prepared statement whenever the role changes.
  const query = new pg.Query({ ...statement, name: `${statement.name}@` }) as unknown as DriverQuery;
  const { submit, handleDataRow, handleCommandComplete } = query;
  let isScopeApplied = false;

  query.submit = (wire) => {
    wire.stream.cork();
    try {
      wire.bind({ statement: SET_TENANT_SCOPE.name, values: [tenantId] });
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
