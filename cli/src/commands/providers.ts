// `gesso providers`: lists the providers, and connects one to `gesso dev` with a key that is asked for and checked.
import { Command } from "commander";
import { connectCommand } from "../providers/connect.ts";
import { disconnectCommand } from "../providers/disconnect.ts";
import { listCommand } from "../providers/list.ts";

const EXAMPLES = `
Examples:
  gesso providers                   what each unlocks, where its key comes from
  gesso providers connect fal       ask for the key, check it, use fal in gesso dev
  gesso providers disconnect fal    stop using fal, and forget its key`;

export const providersCommand = (): Command =>
  new Command("providers")
    .addHelpText("after", EXAMPLES)
    .addCommand(listCommand(), { isDefault: true })
    .addCommand(connectCommand())
    .addCommand(disconnectCommand());
