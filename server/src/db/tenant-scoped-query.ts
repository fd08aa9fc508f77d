// A statement that brings its tenant along. The role behind the wall and the tenant that it may see travel in the
// same packet, ahead of the statement, and hold for the one transaction that both are: it costs no round trip, and
// nothing of it is left on the connection for whoever uses it next.
import pg from "pg";

const SET_TENANT_SCOPE = {
  name: "scope",
  text: "select set_config('role', 'gesso_app', true), set_config('app.tenant', $1, true)",
};

type NamedStatement = { name: string; text: string; values: unknown[] };

/** What of the driver's connection is used here; its types leave it out. */
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

/** Every connection that scoped statements are sent on has to be made ready for them first. */
export async function prepareTenantScope(client: pg.ClientBase): Promise<void> {
  await client.query({ ...SET_TENANT_SCOPE, values: [""] });
}

export function tenantScopedQuery(statement: NamedStatement, tenantId: string): pg.Query {
  // Its own name: a plan that was made for one role would be made anew for the other, over and over.
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
  // The first row and the first end are the scope's; from then on everything is the statement's own.
  query.handleDataRow = (message) => {
    if (isScopeApplied) handleDataRow.call(query, message);
  };
  query.handleCommandComplete = (message, wire) => {
    if (isScopeApplied) handleCommandComplete.call(query, message, wire);
    isScopeApplied = true;
  };
  return query as unknown as pg.Query;
}
