// Inputs that the client refuses before it sends them.
import { expect, it } from "vitest";
import { createClient } from "./index.ts";

const refused = async (input: { end_user?: string; customer?: string; tags?: string[] }) => {
  const sent: string[] = [];
  const fetch = async (url: string | URL | Request) => {
    sent.push(String(url));
    return Response.json({ error: "stopped", code: "invalid_json", details: {} }, { status: 400 });
  };
  const client = createClient({ baseUrl: "http://localhost:1", apiKey: "k", fetch: fetch as typeof globalThis.fetch });
  await client.images.generate({ prompt: "a boat", ...input }).catch(() => undefined);
  return sent.length === 0;
};

it("IDs of end users, customers and tags may have every printable character", async () => {
  for (const id of ["paul", "Zoë Cliff", "{p}", "feature:lamp", "🎈"]) {
    expect([id, await refused({ end_user: id, customer: id, tags: [id] })]).toEqual([id, false]);
  }
});
