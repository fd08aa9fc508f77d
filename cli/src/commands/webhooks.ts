// `gesso webhooks`: what helps while a receiver of webhooks is being written.
import { Command } from "commander";
import { listenCommand } from "./webhooks/listen.ts";
import { triggerCommand } from "./webhooks/trigger.ts";

/** Errors are shown and ended as in `parent`; settings are not passed down by themselves. */
export function webhooksCommand(parent: Command): Command {
  const command = new Command("webhooks").description("Receive and test webhooks on this machine.");
  command.copyInheritedSettings(parent);
  for (const each of [listenCommand(), triggerCommand()]) command.addCommand(each.copyInheritedSettings(parent));
  return command;
}
