// Pixel tasks for tests of adapters: real isolated processes, shared by the tests of a file.
import { createDecoderPool } from "../../src/files/images/decoder-pool.ts";
import { createPixelTasks } from "../../src/files/images/pixel-tasks.ts";
import type { ProviderContext } from "../../src/providers/provider.ts";
import { createProviderContext } from "../../src/runs/offers/provider-context.ts";
import type { Timer } from "../../src/runtime/clock.ts";
import { systemClock } from "../../src/runtime/system-clock.ts";

let pixelTasks: ReturnType<typeof createPixelTasks> | undefined;

/** No task is refused because the machine is busy: what a pool does when the time is over has tests of its own. */
const never: Timer = { stop: () => {}, unref: () => never };
const withoutTimeouts = { after: () => never };

/** Started with the first task. The processes end with the test process. */
const startPixelTasks = () => {
  pixelTasks ??= createPixelTasks(
    createDecoderPool({ count: 2, megabytes: 1024, seconds: 20, clock: withoutTimeouts }),
  );
  return pixelTasks;
};

/** The function of a provider context, with the faults that an adapter sees. */
export const runPixelTask: ProviderContext<unknown>["runPixelTask"] = (task, inputs) =>
  createProviderContext(
    {
      http: { sendToProvider: () => Promise.reject(new Error("this test sends no request")) },
      callbacks: { isPublicUrlReachable: false, signUrl: () => "" },
      runPixelTask: startPixelTasks(),
      submitSeconds: 30,
      clock: systemClock,
    },
    { provider: { id: "test" } as never, env: {} },
    { run_id: "", job_index: 0, request_index: 0, attempt_number: 1 } as never,
  ).runPixelTask(task, inputs);
