// Named moments of a run's life. A kill campaign sets CRASH_AT, and the process dies the first time it gets there: so the
// windows that random kills rarely hit are hit every time. Without the setting a moment is nothing.
import { z } from "zod";

export const MOMENTS = [
  "request_read",
  "committed",
  "answering",
  "taken_from_queue",
  "begun",
  "intent_written",
  "answer_read",
  "given_up",
  "result_read",
  "file_stored",
  "finishing",
  "finished",
] as const;
export type Moment = (typeof MOMENTS)[number];

export const MomentsEnv = z.object({
  CRASH_AT: z.enum(MOMENTS).optional().describe("For kill campaigns only: die at this moment of a run's life"),
});

export const createMoments = (env: z.output<typeof MomentsEnv>) => (name: Moment) => {
  if (name === env.CRASH_AT) process.kill(process.pid, "SIGKILL");
};
