// The client after a restore of the server's database: the position of its last event is lost.
import { afterEach, expect, it } from "vitest";
import { createClient, GessoError } from "../src/index.ts";
import { type LocalServer, respondJson, startLocalServer } from "./local-server.ts";

const ID = "01990c3e-2f00-7000-8000-6f0c1a2b3c4d";
let server: LocalServer;
afterEach(() => server?.close());

const frame = (id: number, type: string) =>
  `id: ${id}\nevent: ${type}\ndata: ${JSON.stringify({ type, data: { run_id: ID } })}\n\n`;

/** Serves these streams one after the other. A request with a position gets `event_position_lost`. */
async function start(...streams: string[]) {
  server = await startLocalServer(({ headers, url }, response) => {
    if (headers["last-event-id"] || url.includes("after="))
      return respondJson(response, 410, { code: "event_position_lost", message: "Start over." });
    response.writeHead(200, { "content-type": "text/event-stream" });
    return response.end(streams.shift());
  });
  return createClient({ baseUrl: server.url, apiKey: "gsk_0123456789abcdefghijklmnopqrstuvwxyzABCD123456" });
}

it.each([{}, { after: "000000000001-000000000001" }])(
  "starts over for the events of one run, with %o",
  async (input) => {
    const before = "after" in input ? [] : [frame(1, "run.queued")];
    const client = await start(...before, frame(2, "run.queued") + frame(3, "run.completed"));
    const types: string[] = [];
    for await (const { type } of client.runs.events(ID, input)) types.push(type);
    expect(types.slice(-2)).toEqual(["run.queued", "run.completed"]);
    expect(server.requests.at(-1)!.headers["last-event-id"]).toBeUndefined();
  },
);

it("throws for the events of a tenant, because only the reader knows what to read again", async () => {
  const client = await start(frame(1, "run.queued"));
  const types: string[] = [];
  const read = async () => {
    for await (const { type } of client.events.stream()) types.push(type);
  };
  const thrown = await read().catch((error) => error);
  expect([GessoError.isInstance(thrown), thrown.code, types]).toEqual([true, "event_position_lost", ["run.queued"]]);
});
