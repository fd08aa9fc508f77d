// Calls the API of the stack through its proxy with TLS, whose port exists only in the network namespace of the drill.
import { execFileSync } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";

export type Api = {
  createRun(prompt: string): string;
  waitForRun(id: string, seconds: number): Promise<{ status: string; image_url: string }>;
  readStatus(id: string): string;
  download(url: string): Buffer;
  /** A page of Prometheus. */
  monitoring(path: string): unknown;
};

type Run = { status: string; image_url: string };

/** `authority`: the file with the certificate that the proxy made for localhost. */
export function createApi(namespace: string, key: string, authority: string): Api {
  const curl = (...parameters: string[]) =>
    execFileSync(
      "nsenter",
      [`--net=/run/netns/${namespace}`, "curl", "-sSf", "--max-time", "20", "--cacert", authority, ...parameters],
      { maxBuffer: 64 * 1024 * 1024 },
    );
  const call = (path: string, body?: object) => {
    const headers = ["-H", `Authorization: Bearer ${key}`, "-H", "Content-Type: application/json"];
    const data = body ? ["-d", JSON.stringify(body)] : [];
    return JSON.parse(curl(`https://localhost/api/v1/${path}`, ...headers, ...data).toString());
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
    monitoring: (path) => JSON.parse(curl(`http://127.0.0.1:9090${path}`).toString()),
  };
}
