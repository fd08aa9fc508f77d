// What 2,000 imported models in use cost a process: its memory, and the CPU of accepting `runs.create` beside
// `images.generate`, in turns. No worker executes the runs: only acceptance is measured.
import { readFileSync } from "node:fs";
import { importModel } from "../../src/models/import-model.ts";
import { listFalEndpoints } from "../model-schemas/fal-endpoints.ts";
import { generateInputs } from "../model-schemas/judge-inputs.ts";
import { startTestEnvironment, type TestEnvironment } from "../support/test-environment.ts";
import { measureCpu } from "./cpu.ts";
import { percentile } from "./full-service.ts";

const ROUNDS = 7;
const POSTS = 400;
const AT_ONCE = 8;
const SEED = 1;
/** A model and an input that fits it. */
type UsedModel = { model: string; input: object };
const OWN: UsedModel = { model: "sandbox:replay/studio", input: { prompt: "a boat" } };

export async function measureUse(models: number): Promise<void> {
  const environment = await startTestEnvironment({
    roles: "split",
    env: { LOG_LEVEL: "error", ...NO_LIMITS, KEY_REQUESTS_PER_MINUTE: "0" },
  });
  try {
    const used = await insertRealModels(environment, models);
    await environment.kill("worker");
    await measureMemory(environment, used);
    await measureAcceptance(environment);
  } finally {
    await environment.stop();
  }
}

const NO_LIMITS = { TENANT_REQUESTS_PER_MINUTE: "0", TENANT_RUNS_PER_MINUTE: "0" };

/** The endpoints of fal's own client, and again with other names until there are enough. */
async function insertRealModels({ query }: TestEnvironment, count: number): Promise<UsedModel[]> {
  const imported = listFalEndpoints().flatMap(({ path, document }) => {
    const result = importModel("fal", path, document);
    return "model" in result ? [result.model] : [];
  });
  const inputs = imported.map((model) => generateInputs(model, { count: 1, seed: SEED }).valid[0]!);
  const used: UsedModel[] = [];
  for (let n = 0; n < count; n++) {
    const document = imported[n % imported.length]!;
    const model = n < imported.length ? document.model : `${document.model}-again`;
    // The hash identifies the schema, so a copy needs one of its own to be compiled again.
    const hash = n < imported.length ? document.hash : document.hash.split("").reverse().join("");
    const own = JSON.stringify({ ...document, model, hash });
    await query(
      `with made as (
         insert into imported_models (model, hash, provider, media, document, imported_by)
         values ($1, $2, 'fal', '{}', $3, 'bench') returning model, hash
       ) insert into model_pins (name, model, hash, call_price) select model, model, hash, 10000 from made`,
      [model, hash, own],
    );
    used.push({ model, input: inputs[n % inputs.length]! });
  }
  return used;
}

type Post = (path: string, body: object) => Promise<number>;

const createPoster =
  ({ url, key }: TestEnvironment): Post =>
  async (path, body) => {
    const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
    const response = await fetch(`${url}/api/v1${path}`, { method: "POST", headers, body: JSON.stringify(body) });
    await response.arrayBuffer();
    return response.status;
  };

async function inTurns(count: number, send: (n: number) => Promise<unknown>): Promise<void> {
  let next = 0;
  const work = async () => {
    while (next < count) await send(next++);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
}

const residentMegabytes = (pid: number): number =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))![1]) / 1024;

/** An estimate judges the input by the model's schema, as a run does. */
async function measureMemory(environment: TestEnvironment, used: UsedModel[]): Promise<void> {
  const post = createPoster(environment);
  const judge = async (callOf: (n: number) => UsedModel) => {
    const statuses = new Map<number, number>();
    await inTurns(used.length, async (n) => {
      const status = await post("/runs/estimate", { operation: "runs.create", input: callOf(n) });
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
    });
    return `${residentMegabytes(environment.pids().api!).toFixed(0)} MB (${JSON.stringify([...statuses])})`;
  };
  for (let round = 1; round <= 10; round++) console.log(`one model, round ${round}: ${await judge(() => OWN)}`);
  for (let round = 1; round <= 8; round++)
    console.log(`${used.length} models, round ${round}: ${await judge((n) => used[n]!)}`);
}

const REQUESTS = [
  ["images.generate", "/runs/generate", (n: number) => ({ prompt: `a boat ${n}`, width: 256, height: 256 })],
  [
    "runs.create",
    "/runs",
    (n: number) => ({ model: OWN.model, input: { prompt: `a boat ${n}`, width: 256, height: 256 } }),
  ],
] as const;

async function measureAcceptance(environment: TestEnvironment): Promise<void> {
  const post = createPoster(environment);
  const { api, postgres } = environment.pids() as { api: number; postgres: number };
  const used = new Map<string, number[]>(REQUESTS.map(([name]) => [name, []]));
  for (let round = 0; round <= ROUNDS; round++) {
    for (const [name, path, bodyOf] of round % 2 ? REQUESTS : REQUESTS.toReversed()) {
      const { cpu } = await measureCpu({ api, postgres }, () =>
        inTurns(POSTS, async (n) => {
          const status = await post(path, bodyOf(n));
          if (status !== 202) throw new Error(`${path}: ${status}`);
        }),
      );
      // The first round warms both.
      if (round > 0) used.get(name)!.push(((cpu.api! + cpu.postgres!) / POSTS) * 1000);
    }
  }
  const medians = REQUESTS.map(([name]) => percentile(used.get(name)!, 0.5));
  for (const [index, [name]] of REQUESTS.entries())
    console.log(
      `accepting ${name}: ${medians[index]!.toFixed(2)} ms of CPU (${used
        .get(name)!
        .map((each) => each.toFixed(2))
        .join(", ")})`,
    );
  console.log(`runs.create costs ${(medians[1]! / medians[0]!).toFixed(2)} times images.generate`);
}
