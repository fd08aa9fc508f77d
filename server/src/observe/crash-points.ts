// Named crash points. With CRASH_AT set, the process kills itself the first time it reaches that point, so the chaos
// tests hit windows that random kills rarely hit. Without the setting a crash point does nothing.
import { z } from "zod";

export const CRASH_POINTS = [
  "request_read",
  "committed",
  "answering",
  "taken_from_queue",
  "begun",
  "intent_written",
  "answer_read",
  "response_spooled",
  "given_up",
  "result_read",
  "file_stored",
  "finishing",
  "finished",
  "archive_written",
] as const;
export type CrashPoint = (typeof CRASH_POINTS)[number];

export const CrashPointEnv = z.object({
  CRASH_AT: z.enum(CRASH_POINTS).optional().describe("For chaos tests only: crash the process at this point of a run"),
});

export const createCrashPoint = (env: z.output<typeof CrashPointEnv>) => (name: CrashPoint) => {
  if (name === env.CRASH_AT) process.kill(process.pid, "SIGKILL");
};
