// The behaviour of the sandbox, for all jobs or for one, and the directives in a prompt that set it.
import { z } from "zod";

const seconds = z.number().min(0).max(3600);
const times = z.number().int().min(0);
const flag = z.boolean();

export const Behaviour = z
  .strictObject({
    delay: seconds.describe("Seconds a job is running."),
    accept_delay: seconds.describe("Seconds a POST takes; the job is accepted when half of them have passed."),
    fail: flag.describe("The job ends failed."),
    refuse: flag.describe("The job ends refused."),
    never: flag.describe("The job runs until it is canceled."),
    reject: flag.describe("The POST returns 422 and accepts nothing."),
    busy: times.describe("The first N POSTs with this prompt return 429."),
    unavailable: times.describe("The first N POSTs with this prompt return 503."),
    error: times.describe("The first N POSTs with this prompt return 500."),
    drop: z
      .union([flag, times])
      .describe("Accepts the job and drops the response; with N, only for the first N POSTs."),
    drop_before: z
      .union([flag, times])
      .describe("Drops the connection of the first POST, or the first N, before the job is accepted."),
    drop_rate: z.number().min(0).max(1).describe("The share of accepted jobs whose response is lost."),
    no_callback: flag.describe("No callback is sent when the job ends."),
    callback_first: flag.describe(
      "The response to the POST is sent after the job has ended and its first callback attempt.",
    ),
    garbage: flag.describe("The output is an HTML page."),
    truncated: flag.describe("The output is cut in half."),
    wrong_count: flag.describe("One output fewer than requested."),
    gone: flag.describe("The output returns 404."),
  })
  .partial();

export type Behaviour = z.infer<typeof Behaviour>;

type ParsedPrompt = { text: string; behaviour: Behaviour } | { complaint: string };

const readValue = (written: string | undefined): unknown => {
  if (written === undefined || written === "true") return true;
  if (written === "false") return false;
  return written === "" ? written : Number(written);
};

/** Removes every `[sandbox:key=value,flag]` from a prompt. An unknown directive is an error, never silently ignored. */
export const parseDirectives = (prompt: string): ParsedPrompt => {
  if (!prompt.includes("[sandbox:")) return { text: prompt, behaviour: {} };
  const reported: Record<string, unknown> = {};
  const text = prompt.replace(/\s*\[sandbox:([^\]]*)\]/g, (_, list: string) => {
    for (const item of list.split(",")) {
      const [name = "", written] = item.split("=").map((part) => part.trim());
      if (name) reported[name] = readValue(written);
    }
    return "";
  });
  const checked = Behaviour.safeParse(reported);
  if (!checked.success) return { complaint: `directive: ${z.prettifyError(checked.error)}` };
  return { text: text.trim(), behaviour: checked.data };
};
