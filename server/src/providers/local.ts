// Picture work done on our own machine: exact, at once and free. What it is asked to leave alone keeps its pixels.
import { z } from "zod";
import { Fault } from "../faults.ts";
import type { Task } from "../kit/operation.ts";
import { providerFault } from "./call-provider.ts";
import { blend } from "./local/blend.ts";
import { combine } from "./local/combine.ts";
import { cut } from "./local/cut.ts";
import { readInputs } from "./local/inputs.ts";
import { type LocalTask, rejectInput } from "./local/local-task.ts";
import { defineProvider } from "./provider.ts";

/** It needs nothing, so it is always on. */
const LocalEnv = z.object({});

const TASKS: Partial<Record<Task, LocalTask>> = { "image.combine": combine, "image.cut": cut, "image.blend": blend };

export const local = defineProvider<z.output<typeof LocalEnv>>({
  id: "local",
  preference: 20,
  env: LocalEnv,
  offers: Object.keys(TASKS).map((task) => ({
    task: task as Task,
    model: "local",
    upstreamModel: "local",
    recovery: "free",
    price: 0,
  })),
  resultOrigins: () => [],

  async submit(job) {
    // Storage that cannot be read is nobody's failure here: it is thrown as it is, and the job is done again later.
    const inputs = await readInputs(job);
    try {
      return { state: "done", outputs: await TASKS[job.task]!(inputs) };
    } catch (thrown) {
      if (thrown instanceof Fault) throw thrown;
      if (thrown instanceof z.ZodError) throw rejectInput("options", thrown);
      throw providerFault("provider_error", { kind: "failed", cause: thrown });
    }
  },

  async poll() {
    throw new Fault("internal_error", {}, { cause: "work done at once is never waited for" });
  },
});
