// The commands and flags that shells complete, as data. Generated from the commands themselves, because loading them
// takes longer than a person waits for a completion.
import type { Argument, Command, Option } from "commander";

/** What a value is. `text` has no candidates; the shell completes `file` and `image`, and run IDs complete `image`. */
export type ValueKind = "text" | "file" | "image" | "run" | "custom_model" | "imported_model" | "profile";
export type CompletionValue = ValueKind | string[];
/** `value` is absent for a switch. A hidden flag is understood, but not offered. */
export type CompletionFlag = { names: string[]; description: string; value?: CompletionValue; isHidden?: boolean };
export type CompletionNode = {
  description: string;
  /** Positions in the list of all flags. */
  flags?: number[];
  parameters?: CompletionValue[];
  /** The last parameter takes any number of values. */
  isRepeated?: boolean;
  commands?: Record<string, CompletionNode>;
};
export type CompletionIndex = { flags: CompletionFlag[]; root: CompletionNode };

/** What a shell offers for the current word. */
export type Candidate = { value: string; description: string };

const KINDS: Record<string, ValueKind> = {
  ...{ image: "image", images: "image", mask: "image", "name=image": "image" },
  ...{ file: "file", directory: "file", run: "run", run_id: "run", model: "imported_model", models: "imported_model" },
};
const KINDS_BY_FLAG: Record<string, ValueKind> = {
  ...{ "--profile": "profile", "--model-id": "custom_model", "--run-id": "run", "--run-ids": "run" },
};

export function buildCompletionIndex(program: Command): CompletionIndex {
  const flags = new Map<string, CompletionFlag>();
  const indexOf = (option: Option): number => {
    const key = JSON.stringify(describeFlag(option));
    if (!flags.has(key)) flags.set(key, describeFlag(option));
    return [...flags.keys()].indexOf(key);
  };
  const describe = (command: Command): CompletionNode => {
    const commands = command.createHelp().visibleCommands(command);
    const visibleCommands = commands.filter((each) => each.name() !== "help");
    const parameters = command.registeredArguments.map(describeParameter);
    return {
      description: firstSentence(command.description()),
      ...(command.options.length > 0 && { flags: command.options.map(indexOf) }),
      ...(parameters.some((each) => each !== "text") && { parameters }),
      ...(command.registeredArguments.at(-1)?.variadic && { isRepeated: true }),
      ...(visibleCommands.length > 0 && {
        commands: Object.fromEntries(visibleCommands.map((each) => [each.name(), describe(each)])),
      }),
    };
  };
  const root = describe(program);
  return { flags: [...flags.values()], root };
}

function describeFlag(option: Option): CompletionFlag {
  const { long, short, description, flags, argChoices, required, optional, hidden } = option;
  const placeholder = /[<[]([^\]>]+)[\]>]/.exec(flags)?.[1]?.replace(/\.{3}$/, "") ?? "";
  const value = argChoices ?? KINDS_BY_FLAG[long ?? ""] ?? KINDS[placeholder] ?? "text";
  return {
    names: [long, short].filter((each) => each !== undefined),
    description: firstSentence(description),
    // A flag whose value is optional takes it only after "=".
    ...(required && !optional && { value }),
    ...(hidden && { isHidden: true }),
  };
}

const describeParameter = (argument: Argument): CompletionValue =>
  argument.argChoices ?? KINDS[argument.name()] ?? "text";

const firstSentence = (text: string): string => (/^.*?[^.](?=\.(?:\s|$)|$)/s.exec(text)?.[0] ?? text).slice(0, 80);
