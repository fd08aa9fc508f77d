// `gesso whoami`: shows which server and credential the commands use, and what it may do.
import type { Identity } from "@gesso/client";
import { Command } from "commander";
import {
  type ConnectionFlags,
  createCliClient,
  resolveConnection,
  type ServerConnection,
  withConnection,
} from "../connection.ts";
import { runCommand } from "../exit-codes.ts";

type Flags = ConnectionFlags & { json?: boolean };

export function whoamiCommand(): Command {
  return withConnection(new Command("whoami").option("--json", "print one JSON object on standard output")).action(
    async (flags: Flags) => {
      const run = async (connection: ServerConnection) => {
        const identity = await createCliClient(connection).me.get();
        process.stdout.write(flags.json ? renderJson(connection, identity) : renderText(connection, identity));
        return 0;
      };
      process.exitCode = await runCommand("gesso whoami", () => resolveConnection(flags), run);
    },
  );
}

const renderJson = ({ url, source }: ServerConnection, identity: Identity): string =>
  `${JSON.stringify({ url, source, ...identity })}\n`;

function renderText({ url, source }: ServerConnection, { user_id, role, tenant, credential }: Identity): string {
  const lines = [
    ["Server", url],
    ["User", `${user_id} (${role})`],
    ["Tenant", `${tenant.name.replace(/\p{C}+/gu, " ")} (${tenant.id})`],
    ["Credential", `${CREDENTIALS[credential.kind]}, from ${source}`],
    ["Scopes", credential.scopes.join(", ")],
    ["Expires", credential.expires_at ?? "never"],
  ];
  return lines.map(([name = "", value = ""]) => `${name.padEnd(12)}${value}\n`).join("");
}

const CREDENTIALS: Record<Identity["credential"]["kind"], string> = {
  key: "API key",
  token: "access token",
  external_token: "token of an identity provider",
  session: "session of the console",
};
