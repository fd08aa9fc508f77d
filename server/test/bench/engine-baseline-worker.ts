// The engine alone, as a baseline: a workflow with the same steps and the same wait as a run, and empty steps. The
// wakeup of the second step is resolved over HTTP, as a provider's callback would.
import { createServer } from "node:http2";
import * as restate from "@restatedev/restate-sdk";
import { Agent, request } from "undici";

const [port, ingress] = process.argv.slice(2);
const dispatcher = new Agent({ connections: 64 });

const bare = restate.service({
  name: "Bare",
  handlers: {
    run: async (context: restate.Context, input: { run_id: string }) => {
      await context.run("begin", async () => ({
        value: { jobs: [{ job: { prompt: "x" }, choice: { provider: "p", as: "m" } }] },
      }));
      const bell = context.awakeable<string>();
      await context.run("submit", async () => {
        void request(`${ingress}/restate/awakeables/${bell.id}/resolve`, {
          method: "POST",
          dispatcher,
          headers: { "content-type": "application/json" },
          body: '"ended"',
        }).then((response) => response.body.dump());
        return { value: { state: "running", try: 1 } };
      });
      await bell.promise.orTimeout(60_000);
      await context.run("collect", async () => ({ value: { state: "made", files: [{ asset_id: input.run_id }] } }));
      await context.run("finish", async () => ({ value: null }));
    },
  },
  options: {
    idempotencyRetention: { hours: 1 },
    journalRetention: { minutes: 10 },
    inactivityTimeout: { seconds: 10 },
  },
});

createServer(restate.createEndpointHandler({ services: [bare] })).listen(Number(port), "127.0.0.1", () =>
  console.log("ready"),
);
