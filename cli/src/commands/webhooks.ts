// `gesso webhooks`: commands for developing a webhook receiver.
import { Command } from "commander";
import { listenCommand } from "./webhooks/listen.ts";
import { triggerCommand } from "./webhooks/trigger.ts";

/** Commander does not pass the error handling of `parent` to subcommands, so it is copied. */
export function webhooksCommand(parent: Command): Command {
  const command = new Command("webhooks").description("Receive and test webhooks on this machine.");
  command.copyInheritedSettings(parent);
  for (const each of [listenCommand(), triggerCommand()]) command.addCommand(each.copyInheritedSettings(parent));
  return command;
}
