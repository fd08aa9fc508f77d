// Fetches every output of every completed run through the API, as a client does, and compares its bytes with what the
// vendor produced for that run.
import type { CheckResult } from "../support/campaign.ts";
import type { TestEnvironment } from "../support/test-environment.ts";
import { hashOf, type VendorJobRecord } from "./vendor-jobs.ts";

const PARALLEL_READS = 8;

type CompletedRun = { run_id: string; outputCount: number };
type RenderedRun = { outputs: { url: string; sha256: string; provenance?: { status: string } }[] };
/** What the vendor produced, as an output contains it, or what is wrong with the output. */
export type ReadOutput = (
  bytes: Uint8Array,
  output: { run_id: string; status: string | undefined },
) => Promise<{ produced: Uint8Array } | { problem: string }>;

/** Without provenance an output has the bytes of the vendor. */
const readUnchanged: ReadOutput = async (bytes) => ({ produced: bytes });

export async function checkOutputs(
  environment: TestEnvironment,
  completed: CompletedRun[],
  jobs: VendorJobRecord[],
  read: ReadOutput = readUnchanged,
): Promise<CheckResult> {
  const jobsByRun = Map.groupBy(jobs, (job) => job.run_id);
  const wrong: string[] = [];
  let compared = 0;
  const waiting = [...completed];
  const work = async () => {
    for (let run = waiting.pop(); run; run = waiting.pop()) {
      const problem = await compareRun(environment, run, { jobs: jobsByRun.get(run.run_id) ?? [], read });
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
  { jobs, read }: { jobs: VendorJobRecord[]; read: ReadOutput },
): Promise<string | undefined> {
  const response = await fetch(`${url}/api/v1/runs/${run.run_id}`, { headers: { authorization: `Bearer ${key}` } });
  if (response.status !== 200) return `status ${response.status}`;
  const { outputs } = (await response.json()) as RenderedRun;
  if (outputs.length !== run.outputCount) return `${outputs.length} of ${run.outputCount} outputs`;
  for (const output of outputs) {
    const file = await fetch(output.url);
    if (file.status !== 200) return `output has status ${file.status}`;
    const bytes = new Uint8Array(await file.arrayBuffer());
    if (hashOf(bytes) !== output.sha256) return "output differs from its recorded hash";
    const content = await read(bytes, { run_id: run.run_id, status: output.provenance?.status });
    if ("problem" in content) return content.problem;
    const sha256 = hashOf(content.produced);
    const isProduced = await Promise.all(jobs.map((job) => job.hasProduced(sha256)));
    if (!isProduced.includes(true)) return "output was not produced for this run";
  }
  return undefined;
}
