// `gesso mcp`: serves the tools of a Gesso to an MCP client over standard input and output.
import { Command } from "commander";
import { type ConnectionFlags, resolveConnection, withConnection } from "../connection.ts";
import { runCommand } from "../exit-codes.ts";
import { forwardMessages } from "../mcp/forward-messages.ts";

const EXAMPLES = `
Examples:
  claude mcp add gesso -- npx gesso mcp                 add Gesso to Claude Code
  GESSO_URL=https://images.example.com gesso mcp        tools of another server

Give an agent a key of its own, with few scopes and a budget, in GESSO_API_KEY:
  gesso keys create agent --scopes images:write --scopes "runs:*" --limits '{"spend_per_hour": 1, "spend_per_day": 5}'

Clients that speak HTTP need no program: their URL is that of the server, followed by /mcp.`;

export function mcpCommand(): Command {
  return withConnection(new Command("mcp"))
    .description("Serve Gesso's tools to an MCP client over standard input and output.")
    .addHelpText("after", EXAMPLES)
    .action(async (flags: ConnectionFlags) => {
      process.exitCode = await runCommand(
        "gesso mcp",
        () => resolveConnection(flags),
        async (connection) => {
          await forwardMessages(connection, { input: process.stdin, output: process.stdout });
          return 0;
        },
      );
    });
}
