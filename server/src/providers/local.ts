// The local provider: image operations in this process, synchronous and free. Unchanged areas keep their exact pixels.
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

/** No settings, so the provider is always enabled. */
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
    // A storage error is passed on unchanged, so that the job is retried later.
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
    throw new Fault("internal_error", {}, { cause: "local jobs are never polled" });
  },
});
