// Says in one sentence why PostgreSQL cannot be used at the start of a process, and what to do.

const UNREACHABLE = /^(ECONNREFUSED|ECONNRESET|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH)$/;
const WRONG_ACCOUNT = /^28/;
const NO_DATABASE = "3D000";

/** Undefined if the error is not about the connection. `setting`: where the URL comes from. */
export function describeConnectionProblem(thrown: unknown, url: string, setting: string): string | undefined {
  const code = thrown instanceof Error && "code" in thrown ? String(thrown.code) : "";
  const { hostname, port, pathname } = new URL(url);
  const server = `PostgreSQL at ${hostname}:${port || "5432"}`;
  if (UNREACHABLE.test(code)) return `${server} does not respond (${code}). Start it, or correct ${setting}.`;
  if (WRONG_ACCOUNT.test(code))
    return `${server} refuses the account (${code}). Correct the user and the password in ${setting}.`;
  if (code === NO_DATABASE)
    return `${server} has no database ${decodeURIComponent(pathname.slice(1))}. Create it, or correct ${setting}.`;
  return undefined;
}
