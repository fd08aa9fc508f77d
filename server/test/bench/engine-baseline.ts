// Runs per second and CPU of the bare engine: the baseline for the overhead of the service.
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { freePort, startRestate } from "@gesso/dev/components";
import { Agent, request } from "undici";
import { measureCpu } from "./cpu.ts";

export type Throughput = { perSecond: number; cpuMsPerRun: Record<string, number>; totalMs: number };

const WORKER = fileURLToPath(new URL("./engine-baseline-worker.ts", import.meta.url));

export async function measureEngineBaseline(runs: number, atOnce: number): Promise<Throughput> {
  const dir = mkdtempSync(join(tmpdir(), "gesso-bare-"));
  const ports = { ingressPort: await freePort(), adminPort: await freePort(), fabricPort: await freePort() };
  const restate = await startRestate({ dataDir: dir, ...ports });
  const port = await freePort();
  const worker = spawn(process.execPath, [WORKER, String(port), restate.ingressUrl], {
    stdio: ["ignore", "pipe", "ignore"],
    env: { ...process.env, RESTATE_LOGGING: "ERROR" },
  });
  await new Promise((resolve) => worker.stdout.once("data", resolve));
  const dispatcher = new Agent({ connections: atOnce });
  const post = async (url: string, body: unknown, headers: Record<string, string> = {}) => {
    const response = await request(url, {
      method: "POST",
      dispatcher,
      headers: { "content-type": "application/json", ...headers },
      body: JSON.stringify(body),
    });
    return response.body.text();
  };
  try {
    await post(`${restate.adminUrl}/deployments`, { uri: `http://127.0.0.1:${port}` });
    const runLoad = async (count: number) => {
      let next = 0;
      const customer = async () => {
        while (next < count) {
          const run_id = `r${Math.random()}-${next++}`;
          await post(`${restate.ingressUrl}/Bare/run/send`, { run_id }, { "idempotency-key": run_id });
        }
      };
      await Promise.all(Array.from({ length: atOnce }, customer));
      for (;;) {
        const response = await request(`${restate.adminUrl}/query`, {
          method: "POST",
          headers: { "content-type": "application/json", accept: "application/json" },
          body: JSON.stringify({ query: "select count(*) as n from sys_invocation where status <> 'completed'" }),
        });
        if (((await response.body.json()) as { rows: { n: number }[] }).rows[0]?.n === 0) return;
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
    };
    await runLoad(Math.min(200, runs));
    const start = Date.now();
    const { cpu } = await measureCpu({ restate: restate.pid, worker: worker.pid! }, () => runLoad(runs));
    return toThroughput(runs, Date.now() - start, cpu);
  } finally {
    worker.kill();
    await restate.stop();
    rmSync(dir, { recursive: true, force: true });
  }
}

export const toThroughput = (runs: number, totalMs: number, cpu: Record<string, number>): Throughput => ({
  perSecond: runs / (totalMs / 1000),
  totalMs,
  cpuMsPerRun: Object.fromEntries(Object.entries(cpu).map(([name, seconds]) => [name, (seconds * 1000) / runs])),
});
