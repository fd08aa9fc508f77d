// The process log: one JSON object per line, without prompts and without secrets.
import pino from "pino";
import { z } from "zod";
import { renderLoggedError } from "./logged-error.ts";

export const LogEnv = z.object({
  LOG_LEVEL: z
    .enum(["debug", "info", "warn", "error", "silent"])
    .default("info")
    .describe("Minimum level of log entries"),
});

export type Log = {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
};

/** `destination` receives the lines. Default: standard output. `mixin` returns fields of every line. */
export const createLogger = (
  env: z.output<typeof LogEnv>,
  role: string,
  destination?: { write(line: string): void },
  mixin?: () => object,
): Log => {
  const options = {
    ...(mixin && { mixin }),
    ...{ level: env.LOG_LEVEL, base: { role }, timestamp: pino.stdTimeFunctions.isoTime },
    serializers: { err: (thrown: unknown) => renderLoggedError(thrown) },
  };
  return destination ? pino(options, destination) : pino(options);
};
