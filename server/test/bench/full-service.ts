// The whole service under the same load, with a provider that needs no time; and the latency at a moderate rate.
import { Agent, request } from "undici";
import type { TestEnvironment } from "../support/test-environment.ts";
import { measureCpu } from "./cpu.ts";
import { type Throughput, toThroughput } from "./engine-baseline.ts";

const REQUEST_BODY = JSON.stringify({ prompt: "[sandbox:delay=0] bench", width: 64, height: 64, seed: 1 });

export const createRunPoster = (environment: Pick<TestEnvironment, "url" | "key">, connections: number) => {
  const dispatcher = new Agent({ connections });
  return async (): Promise<{ run_id: string; status: number }> => {
    const response = await request(`${environment.url}/api/v1/runs/generate`, {
      method: "POST",
      dispatcher,
      headers: { authorization: `Bearer ${environment.key}`, "content-type": "application/json" },
      body: REQUEST_BODY,
    });
    return { ...((await response.body.json()) as { run_id: string }), status: response.statusCode };
  };
};

export async function measureFullService(
  environment: TestEnvironment,
  runs: number,
  atOnce: number,
): Promise<Throughput> {
  const post = createRunPoster(environment, atOnce);
  const go = async (count: number) => {
    let next = 0;
    const customer = async () => {
      while (next++ < count) await post();
    };
    await Promise.all(Array.from({ length: atOnce }, customer));
    for (;;) {
      const [row] = await environment.query<{ count: number }>("select count(*)::int from open_runs");
      if (row!.count === 0) return;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  };
  await go(300);
  const start = Date.now();
  const { cpu } = await measureCpu(environment.pids(), () => go(runs), ["api", "worker"]);
  return toThroughput(runs, Date.now() - start, cpu);
}

/** Of Gesso and what it needs, without the provider. */
export const ownCpu = ({ cpuMsPerRun }: Throughput) =>
  Object.entries(cpuMsPerRun)
    .filter(([part]) => part !== "sandbox")
    .reduce((sum, [, ms]) => sum + ms, 0);

export type Latency = { acceptMs: number[]; toVendorMs: number[] };

/** POSTs at a steady rate: latency until the response, and until the provider has the job. */
export async function measureLatency(
  environment: TestEnvironment,
  perSecond: number,
  seconds: number,
): Promise<Latency> {
  const post = createRunPoster(environment, 32);
  const acceptMs: number[] = [];
  const sent = new Map<string, number>();
  const pending: Promise<void>[] = [];
  for (let index = 0; index < perSecond * seconds; index++) {
    pending.push(
      (async () => {
        const sentAtMs = Date.now();
        const start = performance.now();
        const { run_id } = await post();
        acceptMs.push(performance.now() - start);
        sent.set(run_id, sentAtMs);
      })(),
    );
    await new Promise((resolve) => setTimeout(resolve, 1000 / perSecond));
  }
  await Promise.all(pending);
  await new Promise((resolve) => setTimeout(resolve, 2000));
  const response = await fetch(`${environment.sandboxUrl}/v1/ledger`, {
    headers: { authorization: `Bearer ${environment.sandboxKey}` },
  });
  const { data } = (await response.json()) as { data: { reference: string; accepted_at: string }[] };
  const toVendorMs = data.flatMap(({ reference, accepted_at }) => {
    const sentAtMs = sent.get(reference.split(".")[0]!);
    return sentAtMs === undefined ? [] : [new Date(accepted_at).getTime() - sentAtMs];
  });
  return { acceptMs, toVendorMs };
}

export const percentile = (values: number[], share: number): number =>
  [...values].sort((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * share))] ?? Number.NaN;
