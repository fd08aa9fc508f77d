import { afterEach, expect, it, vi } from "vitest";
import { fetchWithStepUp, onStepUpChange, openStepUp } from "./step-up.ts";

const REFUSED = () => Response.json({ code: "login_too_old", details: { method: "oidc" } }, { status: 403 });
const OTHER = () => Response.json({ code: "insufficient_scope" }, { status: 403 });
const CREATED = () => Response.json({}, { status: 201 });
afterEach(() => void vi.unstubAllGlobals());

function stubFetch(...responses: (() => Response)[]) {
  const fetch = vi.fn(async (_url: string, _init?: RequestInit) => responses.shift()!());
  vi.stubGlobal("fetch", fetch);
  return fetch;
}
const decide = async (isSignedIn: boolean) => {
  await expect.poll(openStepUp).toBeDefined();
  openStepUp()!.decide(isSignedIn);
};

it("repeats a refused request once the user has signed in again, with the same body", async () => {
  const fetch = stubFetch(REFUSED, CREATED);
  const request = fetchWithStepUp("/keys", { method: "POST", body: "{}" });
  await decide(true);
  expect((await request).status).toBe(201);
  expect(fetch.mock.calls.map(([url, init]) => [url, init?.method, init?.body])).toEqual(
    Array(2).fill(["/keys", "POST", "{}"]),
  );
  expect(openStepUp()).toBeUndefined();
});

it("returns the refusal if the user gives up, and other refusals at once", async () => {
  stubFetch(REFUSED, OTHER);
  const request = fetchWithStepUp("/keys");
  await decide(false);
  expect(await (await request).json()).toMatchObject({ code: "login_too_old" });
  expect(await (await fetchWithStepUp("/keys")).json()).toMatchObject({ code: "insufficient_scope" });
});

it("asks once for requests at the same time, and says how the session began", async () => {
  stubFetch(REFUSED, REFUSED, CREATED, CREATED);
  const changes = vi.fn();
  const stop = onStepUpChange(changes);
  const requests = [fetchWithStepUp("/a"), fetchWithStepUp("/b")];
  await expect.poll(openStepUp).toMatchObject({ method: "oidc" });
  await decide(true);
  expect((await Promise.all(requests)).map(({ status }) => status)).toEqual([201, 201]);
  stop();
});
