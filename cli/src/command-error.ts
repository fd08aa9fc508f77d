// Exit codes, and errors that a command reports in one sentence.

/** Also in cli/README.md. `timeout`: the command no longer waits, and the run goes on. */
export const EXIT_CODES = {
  ...{ ok: 0, failed: 1, usage: 2, auth: 3, missing: 4, limit: 5 },
  ...{ timeout: 124, interrupted: 130 },
} as const;
export type ExitReason = keyof typeof EXIT_CODES;

const COMMAND_ERROR_NAME = "CommandError";
type CommandError = Error & { reason: ExitReason };

export const commandError = (reason: ExitReason, message: string): Error =>
  Object.assign(new Error(message), { name: COMMAND_ERROR_NAME, reason });

export const isCommandError = (thrown: unknown): thrown is CommandError =>
  thrown instanceof Error && thrown.name === COMMAND_ERROR_NAME;
