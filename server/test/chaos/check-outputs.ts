// Fetches every output of every completed run through the API, as a client does, and compares its bytes with what the
// vendor produced for that run.
import type { CheckResult } from "../support/campaign.ts";
import type { TestEnvironment } from "../support/test-environment.ts";
import { hashOf, type VendorJobRecord } from "./vendor-jobs.ts";

const PARALLEL_READS = 8;

type CompletedRun = { run_id: string; outputCount: number };
type RenderedRun = { outputs: { url: string; sha256: string }[] };

export async function checkOutputs(
  environment: TestEnvironment,
  completed: CompletedRun[],
  jobs: VendorJobRecord[],
): Promise<CheckResult> {
  const jobsByRun = Map.groupBy(jobs, (job) => job.run_id);
  const wrong: string[] = [];
  let compared = 0;
  const waiting = [...completed];
  const work = async () => {
    for (let run = waiting.pop(); run; run = waiting.pop()) {
      const problem = await compareRun(environment, run, jobsByRun.get(run.run_id) ?? []);
      if (problem) wrong.push(`${run.run_id} ${problem}`);
      else compared += run.outputCount;
    }
  };
  await Promise.all(Array.from({ length: PARALLEL_READS }, work));
  return {
    invariant: "every output of every completed run can be fetched and has the bytes that the vendor produced",
    passed: wrong.length === 0 && compared > 0,
    observed: `${compared} outputs compared, ${wrong.length} runs wrong ${JSON.stringify(wrong.slice(0, 3))}`,
  };
}

/** Returns the first problem, or undefined. */
async function compareRun(
  { url, key }: TestEnvironment,
  run: CompletedRun,
  jobs: VendorJobRecord[],
): Promise<string | undefined> {
  const response = await fetch(`${url}/api/v1/runs/${run.run_id}`, { headers: { authorization: `Bearer ${key}` } });
  if (response.status !== 200) return `status ${response.status}`;
  const { outputs } = (await response.json()) as RenderedRun;
  if (outputs.length !== run.outputCount) return `${outputs.length} of ${run.outputCount} outputs`;
  for (const output of outputs) {
    const file = await fetch(output.url);
    if (file.status !== 200) return `output has status ${file.status}`;
    const sha256 = hashOf(new Uint8Array(await file.arrayBuffer()));
    if (sha256 !== output.sha256) return "output differs from its recorded hash";
    const isProduced = await Promise.all(jobs.map((job) => job.hasProduced(sha256)));
    if (!isProduced.includes(true)) return "output was not produced for this run";
  }
  return undefined;
}
