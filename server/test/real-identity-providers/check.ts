// `npm run proof -- identity-providers`: people sign in to a real Gesso at a real Keycloak and a real Dex. Each runs on
// the loopback interface; `--only keycloak` or `--only dex` checks one. Both are installed into node_modules/.cache.
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { freePort } from "@gesso/dev/components";
import { v7 } from "uuid";
import { createChecklist } from "../support/checklist.ts";
import { startTestEnvironment } from "../support/test-environment.ts";
import { dexIssuer, dexLogin, startDex } from "./dex.ts";
import { keycloakIssuer, startKeycloak } from "./keycloak.ts";
import { AUDIENCE, CLIENT, type RealProvider } from "./real-provider.ts";
import { type CheckedIssuer, checkSignIn } from "./sign-in-checks.ts";

const SESSION_HOURS = 8;
const { only } = parseArgs({ options: { only: { type: "string", default: "keycloak,dex" } } }).values;
const ports = { keycloak: await freePort(), dex: await freePort() };
const common = { tenantId: v7(), sessionHours: SESSION_HOURS };
const issuers: Record<"keycloak" | "dex", CheckedIssuer> = {
  keycloak: { ...common, id: "keycloak", issuer: keycloakIssuer(ports.keycloak), loginOf: (name) => name },
  dex: { ...common, id: "dex", issuer: dexIssuer(ports.dex), tenantId: v7(), loginOf: dexLogin },
};
const describeIssuer = ({ id, issuer, tenantId }: CheckedIssuer, own: object, scope: string) => ({
  ...{ id, issuer, tenant_id: tenantId, audience: AUDIENCE, scopes: ["*"], required_claims: { groups: ["staff"] } },
  roles: [
    { claim: "groups", values: ["artists"], role: "developer" },
    { claim: "groups", values: ["admins"], role: "owner" },
  ],
  console: { ...CLIENT, scope, session_hours: SESSION_HOURS },
  ...own,
});

const { check, counts } = createChecklist();
const directory = mkdtempSync(join(tmpdir(), "gesso-identity-providers-"));
const environment = await startTestEnvironment({
  env: {
    OIDC_ISSUERS: JSON.stringify([
      describeIssuer(
        issuers.keycloak,
        { user_claim: "preferred_username", token_types: ["at+jwt", "JWT"] },
        "openid profile",
      ),
      describeIssuer(issuers.dex, { user_claim: "email" }, "openid email groups"),
    ]),
  },
});
const addressesOf = (id: "keycloak" | "dex") => ({
  port: ports[id],
  redirectUri: `${environment.url}/console/session/oidc/${id}/callback`,
});
async function startDexWithDatabase(): Promise<RealProvider> {
  await environment.query("create database dex");
  const databaseUrl = Object.assign(new URL(environment.databaseUrl), { pathname: "/dex" }).href;
  return startDex({ ...addressesOf("dex"), databaseUrl }, directory);
}
const logoutUri = `${environment.url}/console/session/oidc/keycloak/logout`;
const starters = {
  keycloak: () => startKeycloak({ ...addressesOf("keycloak"), logoutUri }, directory),
  dex: startDexWithDatabase,
};

const started: RealProvider[] = [];
// The processes end with this one.
for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => process.exit(1));
try {
  for (const id of ["keycloak", "dex"] as const) {
    if (!only.split(",").includes(id)) continue;
    const { tenantId } = issuers[id];
    await environment.query("insert into tenants (tenant_id, name) values ($1, $2)", [tenantId, id]);
    // An owner by hand, so that the provider may take the role from everyone else.
    const owner = "insert into members (tenant_id, user_id, role) values ($1, 'operator', 'owner')";
    await environment.query(owner, [tenantId]);
    const provider = await starters[id]();
    started.push(provider);
    await checkSignIn(check, provider, issuers[id], environment);
  }
} finally {
  for (const provider of started) await provider.process.stop();
  await environment.stop();
  if (counts().failed > 0)
    for (const { process } of started) console.log(readFileSync(process.log, "utf8").slice(-3000));
  rmSync(directory, { recursive: true, force: true });
}
const { passed, failed } = counts();
console.log(`identity-providers: ${passed} passed, ${failed} failed`);
process.exit(failed === 0 && passed > 0 ? 0 : 1);
