// Flags of commands that create a run: what to do with the result, and how long to wait for it.
import { type Command, InvalidArgumentError, Option } from "commander";
import type { OutputFlags } from "./output/terminal.ts";

export type RunFlags = OutputFlags & {
  output?: string;
  force?: boolean;
  estimate?: boolean;
  wait: boolean;
  timeout?: number;
  open?: boolean;
  preview?: "auto" | "off";
  idempotencyKey?: string;
};

export const addOutputFlags = (command: Command): Command =>
  command
    .optionsGroup("Output:")
    .option("--json", "print the response of the API as JSON (without a terminal: the default)")
    .option("-q, --quiet", "print only the ID");

export const addRetryFlag = (command: Command): Command =>
  command.option("--idempotency-key <key>", "same key, same result: repeat a command that was interrupted");

export function addFileFlags(command: Command): Command {
  return command
    .optionsGroup("Output:")
    .option(
      "-o, --output <file>",
      "write the files here: %id is the run ID, %n the number of the file, - is standard output",
    )
    .option("--force", "overwrite existing files")
    .option("--open", "open the result in the browser or viewer")
    .addOption(
      new Option("--preview [when]", "show images in kitty and iTerm2 terminals")
        .choices(["auto", "off"])
        .preset("auto"),
    );
}

export function addRunFlags(command: Command): void {
  addOutputFlags(addFileFlags(command)).optionsGroup("Run:");
  command.option("--estimate", "print the estimated cost, without a run");
  command.option("--no-wait", "print the ID of the run and do not wait for its end");
  command.option("--timeout <seconds>", "stop waiting after this time; the run goes on (exit code 124)", parseSeconds);
  addRetryFlag(command);
}

function parseSeconds(text: string): number {
  const seconds = Number(text);
  if (!(seconds > 0)) throw new InvalidArgumentError("Must be a number of seconds above 0.");
  return seconds;
}
