// One log for all rooms: JSON lines, no prompts, no secrets.
import pino from "pino";
import { z } from "zod";

export const LogEnv = z.object({
  LOG_LEVEL: z
    .enum(["debug", "info", "warn", "error", "silent"])
    .default("info")
    .describe("Minimum level of log entries"),
});

export const createLogger = (env: z.output<typeof LogEnv>, role: string) =>
  pino({ level: env.LOG_LEVEL, base: { role }, timestamp: pino.stdTimeFunctions.isoTime });
