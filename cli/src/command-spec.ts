// What a command is made of: its words, the operations it can call, and what it takes without a flag.
import type { CliOperation } from "./operations.ts";

export type CommandOperation = { operation: CliOperation; model?: string };
export type OperationCommandSpec = {
  /** The words after `gesso`. */
  command: string;
  positionals: string[];
  operations: CommandOperation[];
  /** Default: the summary of the operation. */
  description?: string;
};
