// `npm run bench -- gateways`: the same OpenAI image request through Portkey's gateway, LiteLLM's proxy and Gesso, in
// turns. The upstream responds at once with a PNG of 256 KiB. Gesso also stores the run and its file durably.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { freePort, startProcess } from "@gesso/dev/components";
import { startGesso } from "./gateways-gesso.ts";
import { type StartedGateway, startLitellm, startPortkey } from "./gateways-installed.ts";
import { checkGateway, type Gateway, type GatewayFigures, measureGateway } from "./gateways-load.ts";

const { values: options } = parseArgs({
  options: {
    requests: { type: "string", default: "400" },
    rounds: { type: "string", default: "3" },
    /** Requests before the first round, so that every gateway runs compiled code. */
    warmup: { type: "string", default: "600" },
    connections: { type: "string", default: "1,8,32" },
    /** Width and height of the image in pixels. Its file has 256 KiB with any of them. */
    side: { type: "string", default: "1024" },
    /** `all`: Gesso is one process. */
    roles: { type: "string", default: "split" },
    only: { type: "string", default: "portkey,litellm,gesso,gesso-openai,gesso-thumbnails" },
  },
});
const UPSTREAM = fileURLToPath(new URL("./gateways-upstream.ts", import.meta.url));
const MODEL = "gpt-image-1.5";
const SIZE = "1024x1024";
const directory = mkdtempSync(join(tmpdir(), "gesso-gateways-run-"));
const wanted = options.only.split(",");

const upstreamPort = await freePort();
const upstreamUrl = `http://127.0.0.1:${upstreamPort}`;
const upstream = await startProcess({
  name: "upstream",
  url: upstreamUrl,
  command: [process.execPath, UPSTREAM, String(upstreamPort), options.side],
  log: join(directory, "upstream.log"),
  directory,
  environment: process.env as Record<string, string>,
  probe: () =>
    fetch(`${upstreamUrl}/ready`).then(
      ({ ok }) => ok,
      () => false,
    ),
});
const bodyOf = (prompt: string) => JSON.stringify({ model: MODEL, prompt, n: 1, size: SIZE });
const direct = await fetch(`${upstreamUrl}/v1/images/generations`, { method: "POST", body: bodyOf("x") });
const image = ((await direct.json()) as { data: { b64_json: string }[] }).data[0]!.b64_json;
const checkResponse = (text: string) => {
  if (!text.includes(image)) throw new Error("the response has another image than the upstream sent");
};

const started: StartedGateway[] = [];
const startOther = async (name: string, start: typeof startPortkey) => {
  if (!wanted.includes(name)) return;
  const found = await start({ url: upstreamUrl, model: MODEL, bodyOf, checkResponse }, directory).catch(
    (thrown: Error) => {
      console.log(`${name} is left out: ${thrown.message}`);
    },
  );
  if (found) started.push(found);
};
await startOther("portkey", startPortkey);
await startOther("litellm", startLitellm);
const gesso = await startGesso(
  { upstreamUrl, bodyOf, checkResponse },
  { roles: options.roles as "split" | "all", wanted },
);
const gateways: Gateway[] = [...started, ...gesso.gateways];

const print = (name: string, { perSecond, p50, p99, cpuMs }: GatewayFigures) => {
  const total = Object.values(cpuMs).reduce((sum, ms) => sum + ms, 0);
  const parts = Object.entries(cpuMs).map(([part, ms]) => `${part} ${ms.toFixed(1)}`);
  console.log(
    `${name.padEnd(24)} ${perSecond.toFixed(0).padStart(5)} req/s   p50 ${p50.toFixed(1).padStart(6)} ms   p99 ${p99.toFixed(1).padStart(6)} ms   CPU ${total.toFixed(1)} ms (${parts.join(", ")})`,
  );
};
const median = (figures: number[]) => figures.sort((a, b) => a - b)[Math.floor(figures.length / 2)]!;
const medianOf = (all: GatewayFigures[]): GatewayFigures => ({
  perSecond: median(all.map((each) => each.perSecond)),
  p50: median(all.map((each) => each.p50)),
  p99: median(all.map((each) => each.p99)),
  cpuMs: Object.fromEntries(
    Object.keys(all[0]!.cpuMs).map((part) => [part, median(all.map((each) => each.cpuMs[part]!))]),
  ),
});

try {
  for (const gateway of gateways) {
    await checkGateway(gateway);
    await measureGateway(gateway, { connections: 8, requests: Number(options.warmup) });
  }
  for (const connections of options.connections.split(",").map(Number)) {
    const figures = new Map<string, GatewayFigures[]>(gateways.map(({ name }) => [name, []]));
    console.log(`\n${connections} connection${connections === 1 ? "" : "s"}`);
    for (let round = 0; round < Number(options.rounds); round++) {
      for (const gateway of gateways) {
        const measured = await measureGateway(gateway, { connections, requests: Number(options.requests) });
        figures.get(gateway.name)!.push(measured);
        print(gateway.name, measured);
      }
    }
    console.log("median");
    for (const [name, all] of figures) print(name, medianOf(all));
  }
} finally {
  await Promise.all([upstream.stop(), gesso.stop(), ...started.map((each) => each.stop())]);
  rmSync(directory, { recursive: true, force: true });
}
