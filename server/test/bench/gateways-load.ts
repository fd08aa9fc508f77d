// Sends the same request over a number of connections, one request at a time on each, and measures latency and the CPU
// time of the gateway's processes. A response that is not 200 ends the benchmark.
import { Agent, request } from "undici";
import { measureCpu } from "./cpu.ts";
import { percentile } from "./full-service.ts";

/** Every request has another prompt: Gesso takes equal requests at the same time for one that a client repeats. */
export type GatewayRequest = { url: string; headers: Record<string, string>; bodyOf(prompt: string): string };

/** What is compared: a request to a program that passes it on to the same upstream. */
export type Gateway = {
  name: string;
  request: GatewayRequest;
  /** Every process that works for the request, without the upstream. */
  pids(): Record<string, number>;
  /** Throws unless the response has the image. */
  checkResponse(text: string): void;
};

export type GatewayFigures = {
  perSecond: number;
  p50: number;
  p99: number;
  cpuMs: Record<string, number>;
};

let sent = 0;

async function send({ name, request: { url, headers, bodyOf } }: Gateway, dispatcher: Agent): Promise<string> {
  const response = await request(url, {
    method: "POST",
    dispatcher,
    headers: { "content-type": "application/json", ...headers },
    body: bodyOf(`bicycle ${sent++} by the sea`),
  });
  const text = Buffer.from(await response.body.arrayBuffer());
  if (response.statusCode === 200) return text.toString("latin1");
  throw new Error(`${name} responded ${response.statusCode}: ${text.toString("utf8").slice(0, 500)}`);
}

/** One request whose response is looked at. */
export async function checkGateway(gateway: Gateway): Promise<void> {
  const dispatcher = new Agent();
  gateway.checkResponse(await send(gateway, dispatcher));
  await dispatcher.close();
}

export async function measureGateway(
  gateway: Gateway,
  { connections, requests }: { connections: number; requests: number },
): Promise<GatewayFigures> {
  const dispatcher = new Agent({ connections, pipelining: 1 });
  const go = async (count: number): Promise<number[]> => {
    const latencies: number[] = [];
    let next = 0;
    const client = async () => {
      while (next++ < count) {
        const start = performance.now();
        await send(gateway, dispatcher);
        latencies.push(performance.now() - start);
      }
    };
    await Promise.all(Array.from({ length: connections }, client));
    return latencies;
  };
  await go(Math.max(2 * connections, 10));
  const start = performance.now();
  const { result, cpu } = await measureCpu(gateway.pids(), () => go(requests));
  const seconds = (performance.now() - start) / 1000;
  await dispatcher.close();
  return {
    perSecond: requests / seconds,
    p50: percentile(result, 0.5),
    p99: percentile(result, 0.99),
    cpuMs: Object.fromEntries(Object.entries(cpu).map(([part, used]) => [part, (1000 * used) / requests])),
  };
}
