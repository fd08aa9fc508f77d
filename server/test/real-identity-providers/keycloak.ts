// A real Keycloak on the loopback interface, from its distribution on Maven Central, with a realm for the checks. Needs
// Java 17 or newer.
import { execFileSync } from "node:child_process";
import { createWriteStream, existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { startProcess } from "@gesso/dev/components";
import { AUDIENCE, assertDigest, CACHE, CLIENT, PEOPLE, type RealProvider, submitForm } from "./real-provider.ts";

const VERSION = "26.7.3";
const SHA256 = "77657f30b7e90d70f727712ce1c967f430fd6a5e9f458d32d8c6df0635345f47";
const ARCHIVE = `keycloak-quarkus-dist-${VERSION}.tar.gz`;
const URL_OF_ARCHIVE = `https://repo1.maven.org/maven2/org/keycloak/keycloak-quarkus-dist/${VERSION}/${ARCHIVE}`;
const ADMIN = { username: "admin", password: "a-password-of-the-admin-in-a-check" };
const PASSWORD = "a-password-in-a-check";
const REALM = "gesso";
const API_CLIENT = "gesso-api";

export const keycloakIssuer = (port: number) => `http://127.0.0.1:${port}/realms/${REALM}`;

/** Returns the folder of the distribution, which it downloads once. */
async function installKeycloak(): Promise<string> {
  const folder = join(CACHE, `keycloak-${VERSION}`);
  if (existsSync(folder)) return folder;
  mkdirSync(CACHE, { recursive: true });
  const unfinished = mkdtempSync(`${folder}-`);
  try {
    const archive = join(unfinished, ARCHIVE);
    const response = await fetch(URL_OF_ARCHIVE);
    if (!response.ok || !response.body) throw new Error(`${URL_OF_ARCHIVE} responds with ${response.status}`);
    await pipeline(Readable.fromWeb(response.body as never), createWriteStream(archive));
    await assertDigest(archive, SHA256);
    execFileSync("tar", ["--extract", "--gzip", "--file", archive, "--directory", unfinished]);
    renameSync(join(unfinished, `keycloak-${VERSION}`), folder);
  } finally {
    rmSync(unfinished, { recursive: true, force: true });
  }
  return folder;
}

type Addresses = { port: number; redirectUri: string; logoutUri: string };

/** The console's client demands PKCE and a secret. Groups and the audience are claims, as an operator maps them. */
function describeRealm({ redirectUri, logoutUri }: Addresses): object {
  const protocolMappers = [
    {
      ...{ name: "groups", protocol: "openid-connect", protocolMapper: "oidc-group-membership-mapper" },
      config: {
        ...{ "claim.name": "groups", "full.path": "false" },
        ...{ "id.token.claim": "true", "access.token.claim": "true" },
      },
    },
  ];
  const audience = {
    ...{ name: "audience", protocol: "openid-connect", protocolMapper: "oidc-audience-mapper" },
    config: { "included.custom.audience": AUDIENCE, "access.token.claim": "true", "id.token.claim": "false" },
  };
  return {
    ...{ realm: REALM, enabled: true, sslRequired: "none" },
    groups: [...new Set(Object.values(PEOPLE).flat()), "admins"].map((name) => ({ name })),
    clients: [
      {
        ...{ clientId: CLIENT.client_id, secret: CLIENT.client_secret, enabled: true, protocolMappers },
        ...{ redirectUris: [redirectUri], standardFlowEnabled: true, publicClient: false },
        attributes: {
          "pkce.code.challenge.method": "S256",
          "backchannel.logout.url": logoutUri,
          "backchannel.logout.session.required": "true",
        },
      },
      {
        ...{ clientId: API_CLIENT, enabled: true, publicClient: true, directAccessGrantsEnabled: true },
        protocolMappers: [...protocolMappers, audience],
      },
    ],
    users: Object.entries(PEOPLE).map(([username, groups]) => ({
      ...{ username, enabled: true, emailVerified: true, email: `${username}@example.com` },
      ...{ firstName: username, lastName: "Example", groups: groups.map((group) => `/${group}`) },
      credentials: [{ type: "password", value: PASSWORD, temporary: false }],
    })),
  };
}

export async function startKeycloak(addresses: Addresses, directory: string): Promise<RealProvider> {
  const { port } = addresses;
  const url = `http://127.0.0.1:${port}`;
  const home = join(directory, "keycloak");
  // It writes its database beside the programs, so every check has a copy.
  execFileSync("cp", ["-a", await installKeycloak(), home]);
  const realmFile = join(home, "data/import/realm.json");
  mkdirSync(dirname(realmFile), { recursive: true });
  writeFileSync(realmFile, JSON.stringify(describeRealm(addresses)));
  const started = await startProcess({
    ...{ name: "keycloak", url, directory: home, log: join(directory, "keycloak.log"), readySeconds: 600 },
    command: [join(home, "bin/kc.sh"), "start-dev", "--import-realm", "--http-host=127.0.0.1", `--http-port=${port}`],
    environment: {
      ...(process.env as Record<string, string>),
      ...{ KC_BOOTSTRAP_ADMIN_USERNAME: ADMIN.username, KC_BOOTSTRAP_ADMIN_PASSWORD: ADMIN.password },
    },
    probe: () =>
      fetch(`${keycloakIssuer(port)}/.well-known/openid-configuration`).then(
        ({ ok }) => ok,
        () => false,
      ),
  });

  const requestToken = async (realm: string, client_id: string, person: { username: string; password: string }) => {
    const body = new URLSearchParams({ grant_type: "password", client_id, scope: "openid", ...person });
    const response = await fetch(`${url}/realms/${realm}/protocol/openid-connect/token`, { method: "POST", body });
    const token = (await response.json()) as { access_token?: string };
    if (!token.access_token) throw new Error(`${client_id} got ${response.status} ${JSON.stringify(token)}`);
    return token.access_token;
  };
  const administer = async (method: string, path: string, body?: object) => {
    const authorization = `Bearer ${await requestToken("master", "admin-cli", ADMIN)}`;
    const response = await fetch(`${url}/admin/realms/${REALM}${path}`, {
      ...{ method, headers: { authorization, "content-type": "application/json" } },
      ...(body && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path} got ${response.status} ${text}`);
    return (text === "" ? undefined : JSON.parse(text)) as { id: string; name: string }[];
  };
  const findUser = async (login: string) => (await administer("GET", `/users?exact=true&username=${login}`))[0]!.id;

  return {
    process: started,
    password: PASSWORD,
    async setGroups(login, names) {
      const user = await findUser(login);
      for (const { id } of await administer("GET", `/users/${user}/groups`))
        await administer("DELETE", `/users/${user}/groups/${id}`);
      for (const { id, name } of await administer("GET", "/groups"))
        if (names.includes(name)) await administer("PUT", `/users/${user}/groups/${id}`);
    },
    disable: async (login) => void (await administer("PUT", `/users/${await findUser(login)}`, { enabled: false })),
    endSessions: async (login) => void (await administer("POST", `/users/${await findUser(login)}/logout`)),
    logOut: (browser) => submitForm(browser, `${keycloakIssuer(port)}/protocol/openid-connect/logout`),
    findAccessToken: (login, client) => requestToken(REALM, client, { username: login, password: PASSWORD }),
  };
}
