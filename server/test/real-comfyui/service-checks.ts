// A whole Gesso with two real servers: runs through the API, a worker killed in the middle, servers killed in the
// middle, cancellations. ComfyUI's own log counts the prompts: a run whose job is not lost is submitted once.

import { createHttpCaller } from "../support/api-caller.ts";
import type { Check } from "../support/checklist.ts";
import { startTestEnvironment } from "../support/test-environment.ts";
import type { ComfyuiProcess } from "./comfyui-process.ts";

const END_SECONDS = 480;
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

type Run = {
  status: string;
  error: { code: string } | null;
  image_url: string | null;
  outputs: { width: number; height: number }[];
  attempts: { state: string }[];
};

export async function checkService(check: Check, servers: ComfyuiProcess[], graphs: string): Promise<void> {
  const environment = await startTestEnvironment({
    roles: "split",
    env: { COMFYUI_URLS: servers.map(({ url }) => url).join(","), COMFYUI_GRAPHS: graphs, SANDBOX_URL: "" },
  });
  const caller = createHttpCaller(environment);
  let seed = Date.now() % 0xffff;
  const generate = async (body: Record<string, unknown>): Promise<string> => {
    const response = await caller.generate({ prompt: "nothing", width: 128, height: 64, seed: ++seed, ...body });
    if (response.status !== 202) throw new Error(`${response.status} ${JSON.stringify(response.body)}`);
    return response.body.run_id;
  };
  const slow = { model_type: "qwen-image-edit" };
  const ended = (runId: string): Promise<Run> => caller.waitUntilEnded(runId, END_SECONDS);
  const counts = () => servers.map((server) => server.promptCount());
  const since = (before: number[]) => counts().map((count, n) => count - before[n]!);
  const sum = (values: number[]) => values.reduce((total, value) => total + value, 0);
  const describe = (run: Run, prompts: number[]) =>
    [run.status, run.error?.code, `attempts ${run.attempts.map(({ state }) => state)}`, `prompts ${prompts}`]
      .filter(Boolean)
      .join("; ");
  /** The index of the server that runs a job. */
  const untilRunning = async (): Promise<number> => {
    for (const end = Date.now() + 60_000; Date.now() < end; await pause(100)) {
      const queues = await Promise.all(
        servers.map(async ({ url }) => (await fetch(`${url}/queue`)).json() as Promise<{ queue_running: unknown[] }>),
      );
      const at = queues.findIndex(({ queue_running }) => queue_running.length > 0);
      if (at >= 0) return at;
    }
    throw new Error("no server started the job");
  };
  const untilIdle = async () => {
    for (const end = Date.now() + 60_000; Date.now() < end; await pause(200)) {
      const stats = await Promise.all(
        servers.map(async ({ url }) => (await (await fetch(`${url}/prompt`)).json()) as any),
      );
      if (stats.every(({ exec_info }) => exec_info.queue_remaining === 0)) return;
    }
    throw new Error("the servers do not become idle");
  };

  try {
    await check("a run through the API completes with one prompt", async () => {
      const before = counts();
      const run = await ended(await generate({}));
      const size = run.outputs[0] && `${run.outputs[0].width}x${run.outputs[0].height}`;
      const passed = run.status === "completed" && size === "128x64" && sum(since(before)) === 1;
      return { passed, observed: `${describe(run, since(before))}; ${size}` };
    });

    await check("a run with an image of another run uploads it", async () => {
      const source = await ended(await generate({}));
      const before = counts();
      const run = await ended(await generate({ reference_image_url: source.image_url }));
      return { passed: run.status === "completed" && sum(since(before)) === 1, observed: describe(run, since(before)) };
    });

    await check("a run whose worker is killed in the middle completes with one prompt", async () => {
      const before = counts();
      const runId = await generate(slow);
      await untilRunning();
      await environment.killAndRestart("worker", 500);
      const run = await ended(runId);
      return { passed: run.status === "completed" && sum(since(before)) === 1, observed: describe(run, since(before)) };
    });

    await check("a canceled run stops its running job", async () => {
      const runId = await generate(slow);
      await untilRunning();
      await caller.post(`/runs/${runId}/cancel`);
      const run = await ended(runId);
      await untilIdle();
      return { passed: run.status === "canceled", observed: `${run.status}; the servers are idle` };
    });

    await check("a canceled run removes its waiting job, and the others complete", async () => {
      const before = counts();
      const running = [await generate(slow), await generate(slow)];
      await untilRunning();
      while (sum(since(before)) < 2) await pause(100);
      const waiting = await generate(slow);
      while (sum(since(before)) < 3) await pause(100);
      await caller.post(`/runs/${waiting}/cancel`);
      const canceled = await ended(waiting);
      const others = await Promise.all(running.map(ended));
      const statuses = [canceled, ...others].map(({ status }) => status).join();
      return { passed: statuses === "canceled,completed,completed", observed: statuses };
    });

    await check("a run whose server dies completes on the other server", async () => {
      const before = counts();
      const runId = await generate(slow);
      const dead = await untilRunning();
      await servers[dead]!.kill();
      const run = await ended(runId);
      await servers[dead]!.start();
      const prompts = since(before);
      const passed = run.status === "completed" && prompts[dead] === 1 && prompts[1 - dead] === 1;
      return { passed, observed: describe(run, prompts) };
    });

    await check("a run whose server is restarted completes with a second prompt", async () => {
      const before = counts();
      const runId = await generate(slow);
      const restarted = await untilRunning();
      await servers[restarted]!.kill();
      await servers[restarted]!.start();
      const run = await ended(runId);
      return { passed: run.status === "completed" && sum(since(before)) === 2, observed: describe(run, since(before)) };
    });
  } finally {
    await environment.stop();
  }
}
