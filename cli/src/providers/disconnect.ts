// `gesso providers disconnect`: stops `gesso dev` from using a provider and forgets its saved key.
import { disconnectProvider } from "@gesso/dev/providers/provider-choice";
import { awaitProviders } from "@gesso/dev/providers/running-providers";
import { Command } from "commander";
import { writeNote } from "../output/terminal.ts";
import { DEFAULT_DATA } from "../resolve-connection.ts";
import { requireProvider } from "./require-provider.ts";

type Flags = { data: string };

export const disconnectCommand = (): Command =>
  new Command("disconnect")
    .description("Stop using a provider in gesso dev, and remove its saved key.")
    .argument("<provider>", "ID of the provider")
    .option("--data <directory>", "data directory of gesso dev", DEFAULT_DATA)
    .action(async (id: string, { data }: Flags) => {
      const provider = requireProvider("gesso providers disconnect", id);
      if (!provider) return;
      if (!disconnectProvider(data, provider.id)) {
        writeNote(`${provider.id} is not connected to gesso dev in ${data}.`);
        return;
      }
      const running = await awaitProviders(data);
      const ended = running ? `gesso dev no longer uses ${provider.id}` : `${provider.id} is disconnected`;
      writeNote(`${ended}. No key of ${provider.id} is saved in ${data}.`);
    });
