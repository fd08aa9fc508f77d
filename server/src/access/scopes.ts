// What a credential may do. One function decides for every operation, by the operation's name and method alone, and what
// nobody allowed is refused: a new operation needs no line here.
import type { Caller, Role } from "../db/runs/runs.ts";
import { Fault } from "../faults.ts";

type ScopedOperation = { name: string; http: { method: string } };

/** Operations whose name does not begin with their family. */
const SCOPE_RESOURCES: Record<string, string> = { generateVideo: "videos", edit: "images" };
/** The operator's own: no `*` reaches it, it has to be said. */
const OPERATOR = "tenants";
const SCOPE = /^(\*|\*:read|[a-z][a-z-]*:(read|write|\*))$/;

/** What a role may not do, whatever scopes its credential has. */
const DENIED: Record<Role, string[]> = {
  owner: [],
  developer: ["members:write", "audit:*", "tenants:*"],
  viewer: ["*:write", "audit:*", "tenants:*"],
};

export const isScope = (text: string): boolean => SCOPE.test(text);

export function requiredScope({ name, http }: ScopedOperation): string {
  const word = name.split(".")[0]!;
  return `${SCOPE_RESOURCES[word] ?? word}:${http.method === "GET" ? "read" : "write"}`;
}

export const isOperatorOperation = (operation: ScopedOperation): boolean =>
  splitScope(requiredScope(operation))[0] === OPERATOR;

/** Those of `wanted` that `held` does not cover. */
export const missingScopes = (held: readonly string[], wanted: readonly string[]): string[] =>
  wanted.filter((scope) => !expandScope(scope).every((one) => held.some((own) => grantsScope(own, one))));

/** What both lists allow. */
export function intersectScopes(one: readonly string[], other: readonly string[]): string[] {
  const [ours, theirs] = [one.flatMap(expandScope), other.flatMap(expandScope)];
  const within = (inner: string[], outer: string[]) =>
    inner.filter((scope) => missingScopes(outer, [scope]).length === 0);
  return [...new Set([...within(ours, theirs), ...within(theirs, ours)])];
}

/** Throws unless role and scopes both allow the operation. */
export function authorize(caller: Pick<Caller, "role" | "scopes">, operation: ScopedOperation): void {
  const required = requiredScope(operation);
  if (missingScopes(caller.scopes, [required]).length > 0) throw new Fault("insufficient_scope", { required });
  if (DENIED[caller.role].some((denied) => matchesScope(denied, required))) {
    throw new Fault("permission_denied", { role: caller.role });
  }
}

export const splitScope = (scope: string) =>
  (scope === "*" ? ["*", "*"] : scope.split(":")) as [family: string, action: string];

/** `images:*` is both of its halves. */
function expandScope(scope: string): string[] {
  const [family, action] = splitScope(scope);
  return action === "*" ? [`${family}:read`, `${family}:write`] : [scope];
}

function grantsScope(own: string, wanted: string): boolean {
  return splitScope(wanted)[0] === OPERATOR && splitScope(own)[0] === "*" ? false : matchesScope(own, wanted);
}

function matchesScope(pattern: string, scope: string): boolean {
  const [family, action] = splitScope(pattern);
  const [ofFamily, ofAction] = splitScope(scope);
  return (family === "*" || family === ofFamily) && (action === "*" || action === ofAction);
}
