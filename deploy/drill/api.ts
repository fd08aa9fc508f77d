// Calls the API of the stack at its published port, which exists only in the network namespace of the drill.
import { execFileSync } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";

export type Api = {
  createRun(prompt: string): string;
  waitForRun(id: string, seconds: number): Promise<{ status: string; image_url: string }>;
  readStatus(id: string): string;
  download(url: string): Buffer;
};

type Run = { status: string; image_url: string };

export function createApi(namespace: string, key: string): Api {
  const curl = (...parameters: string[]) =>
    execFileSync("nsenter", [`--net=/run/netns/${namespace}`, "curl", "-sSf", "--max-time", "20", ...parameters], {
      maxBuffer: 64 * 1024 * 1024,
    });
  const call = (path: string, body?: object) => {
    const headers = ["-H", `Authorization: Bearer ${key}`, "-H", "Content-Type: application/json"];
    const data = body ? ["-d", JSON.stringify(body)] : [];
    return JSON.parse(curl(`http://127.0.0.1:7788/api/v1/${path}`, ...headers, ...data).toString());
  };
  const read = (id: string) => call(`runs/${id}`) as Run;
  return {
    createRun: (prompt) => call("runs/generate", { prompt, width: 256, height: 256 }).run_id as string,
    readStatus: (id) => read(id).status,
    async waitForRun(id, seconds) {
      for (const start = performance.now(); ; await sleep(250)) {
        const run = read(id);
        if (run.status === "completed") return run;
        if (["failed", "canceled"].includes(run.status)) throw new Error(`run ${id}: ${JSON.stringify(run)}`);
        if (performance.now() - start > seconds * 1000)
          throw new Error(`run ${id} is ${run.status} after ${seconds} s`);
      }
    },
    download: (url) => curl(url),
  };
}
