// Authorization by scopes and roles. The required scope follows from the name and method of an operation, and
// everything that is not granted is denied, so a new operation needs no entry here.
import type { Caller, Role } from "../db/access/caller.ts";
import { Fault } from "../faults.ts";

type ScopedOperation = { name: string; http: { method: string } };
type Permissions = Pick<Caller, "role" | "scopes">;

/** Operations whose name does not begin with their resource. */
const SCOPE_RESOURCES: Record<string, string> = {
  ...{ generateVideo: "videos", edit: "images", system: "tenants", admin: "tenants" },
};
/** Every credential may read its own identity, whatever its scopes. */
const WITHOUT_SCOPE = ["me"];
/** Resource of the operator. `*` does not include it; the scope must be granted by name. */
const OPERATOR = "tenants";
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

/** Returns the wanted scopes that the granted scopes do not cover. */
export const missingScopes = (granted: readonly string[], wanted: readonly string[]): string[] =>
  wanted.filter((scope) => !expandScope(scope).every((one) => granted.some((own) => grantsScope(own, one))));

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
  if (missingScopes(caller.scopes, [required]).length > 0) return new Fault("insufficient_scope", { required });
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
  return splitScope(wanted)[0] === OPERATOR && splitScope(own)[0] === "*" ? false : matchesScope(own, wanted);
}

function matchesScope(pattern: string, scope: string): boolean {
  const [resource, action] = splitScope(pattern);
  const [wantedResource, wantedAction] = splitScope(scope);
  return (resource === "*" || resource === wantedResource) && (action === "*" || action === wantedAction);
}
