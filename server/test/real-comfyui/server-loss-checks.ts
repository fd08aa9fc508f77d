// Two real servers behind one adapter: how jobs are shared, and what becomes of them when a response is lost, when a
// server is killed and when it starts again without its queue.

import { openProviderWebSocket } from "../../src/outbound/outbound-http.ts";
import { comfyui } from "../../src/providers/comfyui.ts";
import type { JobNotification, Ticket } from "../../src/providers/provider.ts";
import { systemClock } from "../../src/runtime/system-clock.ts";
import type { Check } from "../support/checklist.ts";
import { startTcpProxy } from "../support/tcp-proxy.ts";
import { createAdapterClient, describeFailure, waitForQueueState } from "./adapter-client.ts";
import type { ComfyuiProcess } from "./comfyui-process.ts";

export async function checkServerLoss(check: Check, servers: ComfyuiProcess[], graphs: string): Promise<void> {
  const client = createAdapterClient(
    servers.map(({ url }) => url),
    graphs,
  );
  const serverOf = ({ server }: Ticket) => servers.find(({ url }) => url === server)!;
  const countPrompts = () => servers.reduce((sum, server) => sum + server.promptCount(), 0);

  await check("four jobs are shared by two servers", async () => {
    const tickets: Ticket[] = [];
    for (let n = 0; n < 4; n++) tickets.push(await client.submit("qwen-image-edit"));
    const counts = servers.map(({ url }) => tickets.filter(({ server }) => server === url).length);
    for (const ticket of tickets.reverse()) await client.cancel(ticket);
    for (const ticket of tickets) await waitForQueueState(ticket, "absent");
    return { passed: counts.join() === "2,2", observed: `${counts.join(" and ")} jobs` };
  });

  await check("a job whose response was lost is found by its ID, and was submitted once", async () => {
    const proxy = await startTcpProxy(servers[0]!.port);
    const lossy = createAdapterClient([`http://127.0.0.1:${proxy.port}`], graphs);
    const before = countPrompts();
    const at = lossy.context();
    proxy.swallowResponseTo((data) => data.includes("POST /prompt"));
    const failure = await describeFailure(lossy.submit("flux-dev", {}, at));
    const found = await comfyui.findJob!(at);
    const outputs = found ? await lossy.waitForOutputs(found) : [];
    await proxy.close();
    const prompts = countPrompts() - before;
    const passed = failure.startsWith("provider_error unknown") && outputs.length === 1 && prompts === 1;
    return { passed, observed: `${failure}; ${outputs.length} image; ${prompts} prompt` };
  });

  await check("a job of a killed server is lost after 20 s, and at once when the server is back", async () => {
    const ticket = await client.submit("qwen-image-edit");
    await waitForQueueState(ticket, "running");
    await serverOf(ticket).kill();
    const early = await describeFailure(client.poll(ticket));
    const late = await describeFailure(client.poll(ticket, client.context({ unreachableSeconds: 21 })));
    const next = await client.submit("flux-dev");
    await client.waitForOutputs(next);
    await serverOf(ticket).start();
    const back = await describeFailure(client.poll(ticket));
    const passed =
      early.startsWith("provider_error unsent") &&
      late.startsWith("provider_error gone") &&
      back.startsWith("provider_error gone") &&
      next.server !== ticket.server;
    return { passed, observed: [early, late, back].join("; ") };
  });

  await check("notifications arrive although an older connection closes later", async () => {
    const ended: JobNotification[] = [];
    const listen = (hear: (notification: JobNotification) => void) => {
      const end = new AbortController();
      const env = { COMFYUI_URLS: servers.map(({ url }) => url).join(",") };
      const watching = comfyui.watch!(comfyui.env.parse(env), {
        onNotification: hear,
        openWebSocket: openProviderWebSocket,
        clock: systemClock,
        signal: end.signal,
      });
      return async () => {
        end.abort();
        await watching;
      };
    };
    const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
    const stopOlder = listen(() => {});
    await wait(1000);
    let stopNewer = listen((notification) => notification.ended && ended.push(notification));
    await wait(1000);
    await stopOlder();
    await wait(1000);
    const ticket = await client.submit("flux-dev");
    await client.waitForOutputs(ticket);
    await wait(1000);
    const isHeard = ended.some(({ value }) => value === ticket.prompt_id);
    await stopNewer();
    stopNewer = listen((notification) => notification.ended && ended.push(notification));
    await wait(1000);
    const later = await client.submit("flux-dev");
    await client.waitForOutputs(later);
    await wait(1000);
    await stopNewer();
    const isHeardAgain = ended.some(({ value }) => value === later.prompt_id);
    return {
      passed: isHeardAgain,
      observed: `${isHeard ? "heard" : "not heard"} by the open connection, ${isHeardAgain ? "" : "not "}by the next one`,
    };
  });
}
