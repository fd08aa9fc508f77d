// Authorization by scopes and roles. The required scope follows from the name and method of an operation, and
// everything that is not granted is denied, so a new operation needs no entry here.

import type { Operation } from "../contract/operation.ts";
import type { Caller } from "../db/access/caller.ts";
import type { Role } from "../db/typed-columns.ts";
import { Fault } from "../faults/faults.ts";

type ScopedOperation = { name: string; http: { method: string } } & Pick<Operation, "returnsContent">;
type Permissions = Pick<Caller, "role" | "scopes">;

/** Operations whose name does not begin with their resource. */
const SCOPE_RESOURCES: Record<string, string> = {
  ...{ generateVideo: "videos", edit: "images", system: "tenants", admin: "tenants" },
};
/** Every credential may read its own identity, whatever its scopes. */
const WITHOUT_SCOPE = ["me"];
/** Resource of the operator. */
const OPERATOR = "tenants";
/** Permits agents, which act through MCP, what `needsAgentScope`. */
export const AGENT_SCOPE = "agents:write";
/** Permits the operator to read content of tenants, in addition to the scope of the operation: a break-glass scope. */
export const CONTENT_SCOPE = "content:read";
/** No wildcard includes these resources: their scopes must be granted by name. */
const GRANTED_BY_NAME = [OPERATOR, "agents", "content"];
const SCOPE = /^(\*|\*:read|[a-z][a-z-]*:(read|write|\*))$/;

/** Scopes that a role never has, even if the credential grants them. */
const DENIED: Record<Role, string[]> = {
  owner: [],
  developer: ["members:write", "audit:*", "tenants:*"],
  viewer: ["*:write", "audit:*", "tenants:*"],
};

export const isScope = (text: string): boolean => SCOPE.test(text);

export function requiredScope({ name, http }: ScopedOperation): string {
  const resource = name.split(".")[0]!;
  return `${SCOPE_RESOURCES[resource] ?? resource}:${http.method === "GET" ? "read" : "write"}`;
}

export const needsScope = (operation: ScopedOperation): boolean =>
  !WITHOUT_SCOPE.includes(splitScope(requiredScope(operation))[0]);

export const isOperatorOperation = (operation: ScopedOperation): boolean =>
  splitScope(requiredScope(operation))[0] === OPERATOR;

/** The scope of the operation, and `content:read` if it returns content of tenants. */
export const requiredScopes = (operation: ScopedOperation): string[] => [
  requiredScope(operation),
  ...(operation.returnsContent ? [CONTENT_SCOPE] : []),
];

/** Whether only an operator can have the scope. */
export const isOperatorScope = (scope: string): boolean => [OPERATOR, "content"].includes(splitScope(scope)[0]);

/** Whether a scope permits what no wildcard does. */
const isGrantedByName = (scope: string): boolean => GRANTED_BY_NAME.includes(splitScope(scope)[0]);

/**
 * Whether an agent needs `agents:write` in addition to the scope of the operation: a text that an agent reads can
 * contain instructions, and these must neither create credentials nor touch money or the installation.
 */
export const needsAgentScope = (operation: ScopedOperation & Pick<Operation, "changes">): boolean =>
  operation.changes !== undefined || isOperatorOperation(operation);

export const mayAgentCall = ({ scopes }: Permissions, operation: Parameters<typeof needsAgentScope>[0]): boolean =>
  !needsAgentScope(operation) || missingScopes(scopes, [AGENT_SCOPE]).length === 0;

/** Throws unless the caller may call the operation, and may do so as an agent. */
export function authorizeAgent(caller: Permissions, operation: Parameters<typeof needsAgentScope>[0]): void {
  authorize(caller, operation);
  if (!mayAgentCall(caller, operation)) throw new Fault("insufficient_scope", { required: AGENT_SCOPE });
}

/** Returns the wanted scopes that the granted scopes do not cover. */
export const missingScopes = (granted: readonly string[], wanted: readonly string[]): string[] =>
  wanted.filter((scope) => !expandScope(scope).every((one) => granted.some((own) => grantsScope(own, one))));

/**
 * `agents:write` only opens another way to what `*` permits, so a credential with `*` can grant it to a key. An
 * operator with `tenants:*` can grant `content:read`: the audit log then shows who took the right to read content, and
 * when.
 */
export const listGrantableScopes = (scopes: readonly string[]): string[] => [
  ...scopes,
  ...(scopes.includes("*") ? [AGENT_SCOPE] : []),
  ...(missingScopes(scopes, ["tenants:*"]).length === 0 ? [CONTENT_SCOPE] : []),
];

/** Returns the scopes that both lists grant. */
export function intersectScopes(one: readonly string[], other: readonly string[]): string[] {
  const [ours, theirs] = [one.flatMap(expandScope), other.flatMap(expandScope)];
  const within = (inner: string[], outer: string[]) =>
    inner.filter((scope) => missingScopes(outer, [scope]).length === 0);
  return [...new Set([...within(ours, theirs), ...within(theirs, ours)])];
}

/** Throws unless role and scopes both allow the operation. */
export function authorize(caller: Permissions, operation: ScopedOperation): void {
  const refusal = findRefusal(caller, operation);
  if (refusal) throw refusal;
}

export const mayCall = (caller: Permissions, operation: ScopedOperation): boolean =>
  findRefusal(caller, operation) === undefined;

function findRefusal(caller: Permissions, operation: ScopedOperation): Fault | undefined {
  const required = requiredScope(operation);
  if (!needsScope(operation)) return undefined;
  const [missing] = missingScopes(caller.scopes, requiredScopes(operation));
  if (missing) return new Fault("insufficient_scope", { required: missing });
  return DENIED[caller.role].some((denied) => matchesScope(denied, required))
    ? new Fault("permission_denied", { role: caller.role })
    : undefined;
}

export const splitScope = (scope: string) =>
  (scope === "*" ? ["*", "*"] : scope.split(":")) as [resource: string, action: string];

/** Splits `images:*` into read and write. */
function expandScope(scope: string): string[] {
  const [resource, action] = splitScope(scope);
  return action === "*" ? [`${resource}:read`, `${resource}:write`] : [scope];
}

function grantsScope(own: string, wanted: string): boolean {
  return isGrantedByName(wanted) && splitScope(own)[0] === "*" ? false : matchesScope(own, wanted);
}

function matchesScope(pattern: string, scope: string): boolean {
  const [resource, action] = splitScope(pattern);
  const [wantedResource, wantedAction] = splitScope(scope);
  return (resource === "*" || resource === wantedResource) && (action === "*" || action === wantedAction);
}
