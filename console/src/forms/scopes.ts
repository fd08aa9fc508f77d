// Scopes of keys as the form shows them: everything, everything to read, or read and write for each resource.
type ScopeChoice = "all" | "read" | "some";
type ScopeRow = { resource: string; read: string | undefined; write: string | undefined };

const OPERATOR = "tenants";
/** Content of tenants, which an operator can grant. */
const CONTENT = "content";
export const ALL_SCOPES = "*";
export const READ_SCOPES = "*:read";

export function scopeChoice(scopes: readonly string[]): ScopeChoice {
  if (scopes.includes(ALL_SCOPES)) return "all";
  return scopes.includes(READ_SCOPES) ? "read" : "some";
}

/** The scopes that exist, by resource. */
export function scopeRows(scopes: readonly string[]): ScopeRow[] {
  const resources = [...new Set(scopes.map((scope) => scope.split(":")[0]!))];
  const find = (scope: string) => scopes.find((each) => each === scope);
  return resources.map((resource) => ({
    resource,
    read: find(`${resource}:read`),
    write: find(`${resource}:write`),
  }));
}

/** Whether a credential with the granted scopes can give this one to a key. `*` does not include the operator's. */
export function isGrantable(granted: readonly string[], scope: string): boolean {
  const [resource, action] = scope.split(":");
  return granted.some((own) => {
    const [ownResource, ownAction = "*"] = own.split(":");
    const isOperators = resource === OPERATOR || resource === CONTENT;
    const hasResource = ownResource === resource || (ownResource === "*" && !isOperators);
    if (resource === CONTENT && own === `${OPERATOR}:*`) return true;
    return hasResource && (ownAction === "*" || ownAction === action);
  });
}

export const toggleScope = (scopes: readonly string[], scope: string): string[] =>
  scopes.includes(scope) ? scopes.filter((each) => each !== scope) : [...scopes, scope];
