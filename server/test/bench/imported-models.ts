// `npm run bench -- models`: the search among 2,000 imported models, and what the import of hostile documents of 5 MB
// does to other requests; then the memory of a process that uses all models, and the CPU of accepting their runs.
// Prints latencies, CPU times and megabytes. `--models N` inserts fewer models.
import { parseArgs } from "node:util";
import type { JsonObject } from "../../src/contract/schemas/run.ts";
import { importModel } from "../../src/models/import-model.ts";
import { startTestEnvironment, type TestEnvironment } from "../support/test-environment.ts";
import { measureCpu } from "./cpu.ts";
import { percentile } from "./full-service.ts";
import { measureUse } from "./imported-model-use.ts";

const { values } = parseArgs({
  options: { models: { type: "string", default: "2000" }, samples: { type: "string", default: "300" } },
});
const [MODELS, SAMPLES] = [Number(values.models), Number(values.samples)];

/** Rows in the size of real ones: a schema of 8 kB. */
async function insertModels({ query }: TestEnvironment): Promise<void> {
  await query(
    `with made as (
       insert into imported_models (model, hash, provider, title, category, media, document, imported_by)
       select 'fal:fal-ai/' || (array['flux', 'kling-video', 'veo3', 'wan', 'minimax'])[n % 5 + 1] || '/model-' || n, md5(n::text),
         'fal', 'Model ' || n || ' of a family', (array['text-to-video', 'image-to-image', 'text-to-speech'])[n % 3 + 1],
         array[(array['video', 'image', 'audio'])[n % 3 + 1]],
         jsonb_build_object('model', 'm' || n, 'input', jsonb_build_object('properties',
           (select jsonb_object_agg('field_' || f, jsonb_build_object('type', 'string', 'description', md5(f::text || n) || md5(n::text)))
            from generate_series(1, 60) as f))),
         'bench'
       from generate_series(1, $1::int) as n returning model, hash
     ) insert into model_pins (name, model, hash) select model, model, hash from made`,
    [MODELS],
  );
  await query("analyze imported_models, model_pins");
}

const SEARCHES = ["", "q=kling", "q=model-1999", "q=text-to-video", "media=video", "provider=fal&q=wan", "q=nothing"];

const show = (name: string, milliseconds: number[]) =>
  console.log(
    `${name.padEnd(34)} median ${percentile(milliseconds, 0.5).toFixed(1)} ms, p99 ${percentile(milliseconds, 0.99).toFixed(1)} ms`,
  );

async function time(send: () => Promise<Response>): Promise<number> {
  const beginning = performance.now();
  const response = await send();
  await response.arrayBuffer();
  if (!response.ok) throw new Error(`${response.url}: ${response.status}`);
  return performance.now() - beginning;
}

async function measureSearches(environment: TestEnvironment): Promise<void> {
  const headers = { authorization: `Bearer ${environment.key}` };
  const read = (path: string) => time(() => fetch(`${environment.url}/api/v1${path}`, { headers }));
  for (const path of ["/me", ...SEARCHES.map((query) => `/catalogue/models?${query}`)]) {
    for (let warm = 0; warm < 20; warm++) await read(path);
    const { result, cpu } = await measureCpu(environment.pids(), async () => {
      const all: number[] = [];
      for (let sample = 0; sample < SAMPLES; sample++) all.push(await read(path));
      return all;
    });
    show(path, result);
    const used = Object.entries(cpu).filter(([, seconds]) => seconds > 0);
    console.log(
      `  CPU ${used.map(([name, seconds]) => `${name} ${((seconds / SAMPLES) * 1000).toFixed(1)} ms`).join(", ")}`,
    );
  }
}

/** As text, because `JSON.stringify` itself would need too deep a stack. */
const nest = (levels: number) =>
  `${'{"type":"object","properties":{"a":'.repeat(levels)}{"type":"string"}${"}}".repeat(levels)}`;

/** What a provider, or who takes its place, could publish: documents of about 5 MB times `size`. */
function listHostileSchemas(size: number): Record<string, object> {
  const many = (count: number, each: (n: number) => object) =>
    Object.fromEntries(Array.from({ length: count }, (_, n) => [`p${n}`, each(n)]));
  const filler = { filler: { type: "string", description: "x".repeat(4_500_000 * size) } };
  return {
    "loop of references": { $ref: "#/components/schemas/A", properties: filler },
    "doubling references": {
      anyOf: [{ $ref: "#/components/schemas/D0" }, { $ref: "#/components/schemas/D0" }],
      properties: filler,
    },
    "catastrophic patterns": {
      type: "object",
      properties: many(85_000 * size, (n) => ({ type: "string", pattern: `^(a+)+${n}$(b|b)*` })),
    },
    "enumeration values": {
      type: "object",
      properties: { e: { enum: Array.from({ length: 280_000 * size }, (_, n) => `value-${n}-xx`) } },
    },
    properties: { type: "object", properties: many(115_000 * size, () => ({ type: "string", maxLength: 9 })) },
    "5,000 levels": { type: "object", properties: { ...filler, deep: "DEEP" } },
  };
}

const documentOf = (path: string, input: object) => ({
  openapi: "3.0.4",
  paths: { [`/${path}`]: { post: { requestBody: { content: { "application/json": { schema: input } } } } } },
  components: {
    schemas: {
      A: { $ref: "#/components/schemas/B" },
      B: { $ref: "#/components/schemas/A" },
      ...Object.fromEntries(
        Array.from({ length: 24 }, (_, n) => [
          `D${n}`,
          { anyOf: [{ $ref: `#/components/schemas/D${n + 1}` }, { $ref: `#/components/schemas/D${n + 1}` }] },
        ]),
      ),
      D24: { type: "string" },
    },
  },
});

/** The latencies of small requests that begin every 20 ms, while `work` is done. */
async function measureOthers(environment: TestEnvironment, work: () => Promise<unknown>): Promise<number[]> {
  const headers = { authorization: `Bearer ${environment.key}` };
  const all: Promise<number>[] = [];
  const timer = setInterval(() => all.push(time(() => fetch(`${environment.url}/api/v1/me`, { headers }))), 20);
  await work();
  clearInterval(timer);
  return Promise.all(all);
}

const bodiesOf = (size: number) =>
  Object.entries(listHostileSchemas(size)).map(([name, schema]) => {
    const document = documentOf("hostile/model", schema);
    const body = JSON.stringify({ model: "fal:hostile/model", document }).replace('"DEEP"', nest(5_000));
    return { name, body };
  });

/** What the main thread does for a document that a provider has published: nothing else runs in this time. */
function measureRefusals(): void {
  for (const { name, body } of bodiesOf(1)) {
    const { document } = JSON.parse(body) as { document: JsonObject };
    const beginning = performance.now();
    const imported = importModel("fal", "hostile/model", document);
    const said = "refused" in imported ? imported.refused : "imported";
    const megabytes = (body.length / 1e6).toFixed(1);
    console.log(`${name}, ${megabytes} MB: ${(performance.now() - beginning).toFixed(1)} ms: ${said}`);
  }
}

/** `size` 1 is more than the API accepts; a fifth of it is not, so the import itself works on the documents. */
async function measureImports(environment: TestEnvironment, size: number): Promise<void> {
  const headers = { authorization: `Bearer ${environment.key}`, "content-type": "application/json" };
  const pause = (milliseconds: number) => new Promise((done) => setTimeout(done, milliseconds));
  const before = await measureOthers(environment, () => pause(10_000));
  const latencies: number[] = [];
  const others = await measureOthers(environment, async () => {
    for (const { name, body } of bodiesOf(size)) {
      const beginning = performance.now();
      const url = `${environment.url}/api/v1/catalogue/models`;
      const response = await fetch(url, { method: "POST", headers, body });
      const words = (await response.text()).replace(/\s+/g, " ").slice(0, 160);
      if (response.ok) throw new Error(`${name} was imported`);
      latencies.push(performance.now() - beginning);
      console.log(`${name}, ${(body.length / 1e6).toFixed(1)} MB: ${latencies.at(-1)!.toFixed(0)} ms: ${words}`);
      await pause(1_500);
    }
  });
  show("others, before", before);
  show("others, during the imports", others);
  show("others, afterwards", await measureOthers(environment, () => pause(10_000)));
}

const environment = await startTestEnvironment({
  env: { TENANT_REQUESTS_PER_MINUTE: "0", KEY_REQUESTS_PER_MINUTE: "0" },
});
try {
  await insertModels(environment);
  await measureSearches(environment);
  measureRefusals();
  await measureImports(environment, 1);
  await measureImports(environment, 0.2);
} finally {
  await environment.stop();
}
await measureUse(MODELS);
