// `gesso webhooks`: commands for developing a webhook receiver.
import { Command } from "commander";
import { listenCommand } from "./webhooks/listen.ts";
import { triggerCommand } from "./webhooks/trigger.ts";

export const webhooksCommand = (): Command =>
  new Command("webhooks").addCommand(listenCommand()).addCommand(triggerCommand());
