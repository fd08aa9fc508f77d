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
import { selectOutputMode, toHarmlessText, toJsonLine, writeData } from "../output/terminal.ts";

type Flags = ConnectionFlags & { json?: boolean };

export function whoamiCommand(): Command {
  return withConnection(new Command("whoami").option("--json", "print JSON (without a terminal: the default)")).action(
    async (flags: Flags) => {
      const run = async (connection: ServerConnection) => {
        const identity = await createCliClient(connection).me.get();
        const isText = selectOutputMode(flags) === "text";
        writeData(isText ? renderText(connection, identity) : renderJson(connection, identity));
        return 0;
      };
      process.exitCode = await runCommand("gesso whoami", () => resolveConnection(flags), run);
    },
  );
}

const renderJson = ({ url, source }: ServerConnection, identity: Identity): string =>
  toJsonLine({ url, source, ...identity });

function renderText({ url, source }: ServerConnection, { user_id, role, tenant, credential }: Identity): string {
  const lines = [
    ["Server", url],
    ["User", `${user_id} (${role})`],
    ["Tenant", `${toHarmlessText(tenant.name)} (${tenant.id})`],
    ["Credential", `${CREDENTIALS[credential.kind]}, from ${source}`],
    ["Scopes", credential.scopes.join(", ")],
    ["Expires", credential.expires_at ?? "never"],
  ];
  return lines.map(([name = "", value = ""]) => `${name.padEnd(12)}${value}`).join("\n");
}

const CREDENTIALS: Record<Identity["credential"]["kind"], string> = {
  key: "API key",
  token: "access token",
  external_token: "token of an identity provider",
  session: "session of the console",
};
