// What a credential may do. One function decides for every operation, by the operation's name and method alone, and what
// nobody allowed is refused: a new operation needs no line here.
import type { Caller, Role } from "../db/runs.ts";
import { Fault } from "../faults.ts";

type Verb = { name: string; http: { method: string } };

/** Operations whose name does not begin with their family. */
const FAMILIES: Record<string, string> = { generateVideo: "videos", edit: "images" };
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

export function scopeOf({ name, http }: Verb): string {
  const word = name.split(".")[0]!;
  return `${FAMILIES[word] ?? word}:${http.method === "GET" ? "read" : "write"}`;
}

export const isOperators = (operation: Verb): boolean => parts(scopeOf(operation))[0] === OPERATOR;

/** Those of `wanted` that `held` does not cover. */
export const missingFrom = (held: readonly string[], wanted: readonly string[]): string[] =>
  wanted.filter((scope) => !each(scope).every((one) => held.some((own) => covers(own, one))));

/** What both lists allow. */
export function commonScopes(one: readonly string[], other: readonly string[]): string[] {
  const [ours, theirs] = [one.flatMap(each), other.flatMap(each)];
  const within = (inner: string[], outer: string[]) =>
    inner.filter((scope) => missingFrom(outer, [scope]).length === 0);
  return [...new Set([...within(ours, theirs), ...within(theirs, ours)])];
}

/** Throws unless role and scopes both allow the operation. */
export function authorize(caller: Pick<Caller, "role" | "scopes">, operation: Verb): void {
  const required = scopeOf(operation);
  if (missingFrom(caller.scopes, [required]).length > 0) throw new Fault("insufficient_scope", { required });
  if (DENIED[caller.role].some((denied) => reaches(denied, required))) {
    throw new Fault("permission_denied", { role: caller.role });
  }
}

export const parts = (scope: string) =>
  (scope === "*" ? ["*", "*"] : scope.split(":")) as [family: string, action: string];

/** `images:*` is both of its halves. */
function each(scope: string): string[] {
  const [family, action] = parts(scope);
  return action === "*" ? [`${family}:read`, `${family}:write`] : [scope];
}

function covers(own: string, wanted: string): boolean {
  return parts(wanted)[0] === OPERATOR && parts(own)[0] === "*" ? false : reaches(own, wanted);
}

function reaches(pattern: string, scope: string): boolean {
  const [family, action] = parts(pattern);
  const [ofFamily, ofAction] = parts(scope);
  return (family === "*" || family === ofFamily) && (action === "*" || action === ofAction);
}
