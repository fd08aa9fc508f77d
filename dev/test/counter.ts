// A Restate service with one counter for each key. Tests use it to check that Restate keeps its state.
import { once } from "node:events";
import { createServer } from "node:http2";
import * as restate from "@restatedev/restate-sdk";
import { onTestFinished } from "vitest";
import { freePort } from "../src/ports.ts";

const counter = restate.object({
  name: "Counter",
  handlers: {
    add: async (context: restate.ObjectContext, amount: number) => {
      const sum = ((await context.get<number>("sum")) ?? 0) + amount;
      context.set("sum", sum);
      return sum;
    },
  },
});

/** Serves the counter and registers it with Restate. */
export async function serveCounter(adminUrl: string): Promise<void> {
  const port = await freePort();
  const endpoint = restate.createEndpointHandler({ services: [counter], logger: () => {} });
  const server = createServer(endpoint).listen(port, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  const response = await fetch(`${adminUrl}/deployments`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ uri: `http://127.0.0.1:${port}` }),
  });
  if (!response.ok) throw new Error(`Restate did not register the service: ${await response.text()}`);
}

/** The idempotency key makes a retry safe when a response is lost. */
export async function addToCounter(ingressUrl: string, amount: number, idempotencyKey: string): Promise<number> {
  const response = await fetch(`${ingressUrl}/Counter/one/add`, {
    method: "POST",
    headers: { "content-type": "application/json", "idempotency-key": idempotencyKey },
    body: JSON.stringify(amount),
    signal: AbortSignal.timeout(3000),
  });
  if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);
  return (await response.json()) as number;
}
