// A real Dex on the loopback interface, built from its Go module in a fixed version. Its people are in its settings, so
// a change of them is a restart. This release has neither sessions of its own nor Back-Channel Logout. Needs Go.
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startProcess } from "@gesso/dev/components";
import { CACHE, CLIENT, PEOPLE, type RealProvider } from "./real-provider.ts";

/** Release 2.45.1. Its tag is no version of the module, whose path has no /v2. */
const VERSION = "v0.0.0-20260303133905-11d2eeb52b42";
const PASSWORD = "password";
/** bcrypt, of the password above. */
const HASH = "$2a$10$2b2cU8CPhOTaGrs1HRQuAueS7JTT5ZHsHSzYiFPm1leZck7Mc8T4W";

export const dexIssuer = (port: number) => `http://127.0.0.1:${port}/dex`;
export const dexLogin = (name: string) => `${name}@example.com`;

/** Returns the program, which it builds once. Go's checksum database verifies the modules. */
function buildDex(): string {
  const folder = join(CACHE, `dex-${VERSION}`);
  const program = join(folder, "dex");
  if (existsSync(program)) return program;
  mkdirSync(folder, { recursive: true });
  const source = mkdtempSync(join(tmpdir(), "gesso-dex-"));
  try {
    // A module of its own: Dex's has a replacement, with which "go install" refuses it. Without a version of Go, the
    // graph of all modules would be read.
    writeFileSync(join(source, "go.mod"), `module build\n\ngo 1.26\n\nrequire github.com/dexidp/dex ${VERSION}\n`);
    const build = ["build", "-mod=mod", "-o", `${folder}/`, "github.com/dexidp/dex/cmd/dex"];
    execFileSync("go", build, { cwd: source, stdio: "inherit", env: { ...process.env, CGO_ENABLED: "0" } });
  } finally {
    rmSync(source, { recursive: true, force: true });
  }
  return program;
}

type Addresses = { port: number; redirectUri: string; databaseUrl: string };

function describeStorage(databaseUrl: string): object {
  const { hostname, port, username, password, pathname } = new URL(databaseUrl);
  const user = { user: decodeURIComponent(username), password: decodeURIComponent(password) };
  return {
    type: "postgres",
    config: { host: hostname, port: Number(port), database: pathname.slice(1), ...user, ssl: { mode: "disable" } },
  };
}

export async function startDex(addresses: Addresses, directory: string): Promise<RealProvider> {
  const { port, redirectUri, databaseUrl } = addresses;
  const program = buildDex();
  const people = new Map(Object.entries(PEOPLE));
  const settingsFile = join(directory, "dex.json");
  const start = () => {
    const settings = {
      ...{ issuer: dexIssuer(port), storage: describeStorage(databaseUrl), web: { http: `127.0.0.1:${port}` } },
      oauth2: { skipApprovalScreen: true },
      staticClients: [
        { id: CLIENT.client_id, secret: CLIENT.client_secret, name: "Gesso", redirectURIs: [redirectUri] },
      ],
      enablePasswordDB: true,
      staticPasswords: [...people].map(([name, groups]) => ({
        ...{ email: dexLogin(name), username: name, userID: `id-of-${name}`, hash: HASH, emailVerified: true, groups },
      })),
    };
    writeFileSync(settingsFile, JSON.stringify(settings));
    return startProcess({
      ...{ name: "dex", url: dexIssuer(port), directory, log: join(directory, "dex.log") },
      command: [program, "serve", settingsFile],
      environment: process.env as Record<string, string>,
      probe: () =>
        fetch(`${dexIssuer(port)}/.well-known/openid-configuration`).then(
          ({ ok }) => ok,
          () => false,
        ),
    });
  };
  const provider: RealProvider = {
    process: await start(),
    password: PASSWORD,
    async setGroups(login, groups) {
      people.set(login, groups);
      await restart();
    },
    async disable(login) {
      people.delete(login);
      await restart();
    },
  };
  const restart = async () => {
    await provider.process.stop();
    provider.process = await start();
  };
  return provider;
}
