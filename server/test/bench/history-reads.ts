// What the console and clients read, for a tenant with a long history: each request is sent in turn, and its latency
// and the CPU of PostgreSQL are measured.
import { measureCpu } from "./cpu.ts";
import { percentile } from "./full-service.ts";

export type MeasuredTenant = { url: string; key: string; keyId: string; someRuns: string[]; roots: string[] };
export type ReadTimes = { p50: number; p99: number; cpuMs: number };

type Path = (sample: number) => string;

const DAY_MS = 24 * 60 * 60 * 1000;
const isoDay = (ms: number) => new Date(ms).toISOString().slice(0, 10);

/** A different value for each sample, where there are several. */
export function listReads({ keyId, someRuns, roots }: MeasuredTenant): Record<string, Path> {
  const run = (n: number) => someRuns[n % someRuns.length];
  const root = (n: number) => roots[n % roots.length];
  const noun = (n: number) => (n * 7919) % 5000;
  const yearOfUsage = `from=${isoDay(Date.now() - 365 * DAY_MS)}&by=day,model`;
  return {
    "runs.list": () => "/runs",
    "runs.list run_type, rare": () => "/runs?run_type=image-upscaling",
    "runs.list run_type, none": () => "/runs?run_type=none",
    "runs.list failed": () => "/runs?status=failed",
    "runs.list failed, error none": () => "/runs?status=failed&error_code=none",
    "runs.list model, rare": () => "/runs?model=rare-model",
    "runs.list key": () => `/runs?key_id=${keyId}`,
    "search, 1 of 5,000": (n) => `/runs?q=noun${noun(n)}`,
    "search, two words": (n) => `/runs?q=portrait+noun${noun(n)}`,
    "search, no run": () => "/runs?q=submarine",
    "runs.histogram": () => "/runs/histogram",
    "runs.get": (n) => `/runs/${run(n)}`,
    "runs.tree": (n) => `/runs/${root(n)}/tree`,
    "runs.ledger": (n) => `/runs/${run(n)}/ledger`,
    "events of a run": (n) => `/runs/${run(n)}/events`,
    "usage, 30 days": () => "/usage",
    "usage, 30 days by key": () => "/usage?by=day,key,model",
    "usage, 366 days": () => `/usage?${yearOfUsage}`,
  };
}

const WARM_UP = 10;

export async function measureRead(
  { url, key }: MeasuredTenant,
  postgres: number,
  path: Path,
  samples: number,
): Promise<ReadTimes> {
  const times: number[] = [];
  const send = async (sample: number) => {
    const startedAt = performance.now();
    const response = await fetch(`${url}/api/v1${path(sample)}`, { headers: { authorization: `Bearer ${key}` } });
    const body = await response.text();
    times.push(performance.now() - startedAt);
    if (response.status !== 200) throw new Error(`${path(sample)}: ${response.status} ${body.slice(0, 300)}`);
  };
  // The first requests of a connection also plan its statements.
  for (let sample = 0; sample < WARM_UP; sample++) await send(sample);
  times.length = 0;
  const { cpu } = await measureCpu({ postgres }, async () => {
    for (let sample = 0; sample < samples; sample++) await send(WARM_UP + sample);
  });
  return { p50: percentile(times, 0.5), p99: percentile(times, 0.99), cpuMs: (cpu.postgres! * 1000) / samples };
}
