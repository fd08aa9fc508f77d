// `gesso models`: imported models of providers, which `gesso run` runs. The commands of custom models are generated
// from the contract and come after these.
import { Command } from "commander";
import { addCommand } from "../models/add.ts";
import { removeCommand } from "../models/remove.ts";
import { searchCommand } from "../models/search.ts";
import { showCommand } from "../models/show.ts";
import { syncCommand } from "../models/sync.ts";

const EXAMPLES = `
Examples:
  gesso models add fal:fal-ai/veo3.1/fast --alias veo-fast --price 1.2
  gesso run veo-fast --prompt 'a boat lands' -o boat.mp4
  gesso models create 'oil paint' --help       a custom model, such as a LoRA`;

export const modelsCommand = (): Command =>
  new Command("models")
    .addHelpText("after", EXAMPLES)
    .commandsGroup("Models of providers, for gesso run:")
    .addCommand(searchCommand())
    .addCommand(addCommand())
    .addCommand(showCommand())
    .addCommand(syncCommand())
    .addCommand(removeCommand())
    .commandsGroup("Custom models such as LoRAs, for gesso generate:");
