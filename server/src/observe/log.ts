// The process log: one JSON object per line, without prompts and without secrets.
import pino from "pino";
import { z } from "zod";

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

export const createLogger = (env: z.output<typeof LogEnv>, role: string): Log =>
  pino({ level: env.LOG_LEVEL, base: { role }, timestamp: pino.stdTimeFunctions.isoTime });
