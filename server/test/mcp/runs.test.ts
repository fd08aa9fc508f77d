// Tool calls and their runs: slow runs, lost connections, closed streams, confirmed costs, spending limits, and who may
// call the server and read what.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { decodeJwt, decodeProtectedHeader } from "jose";
import { v7 } from "uuid";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { MAX_WAIT_SECONDS } from "../../src/http/mcp/call-tool.ts";
import { AUDIENCE, type IdentityProvider, startIdentityProvider } from "../access/identity-provider.ts";
import { newSigner, type Signer, signUnchecked } from "../corpora/tokens.ts";
import { createHttpCaller, readSandboxLedger } from "../support/api-caller.ts";
import { startTcpProxy, type TcpProxy } from "../support/tcp-proxy.ts";
import { createTestTenant, OPERATOR_SCOPES, TOKEN_REQUEST } from "../support/tenants.ts";
import { startTestEnvironment, type TestEnvironment } from "../support/test-environment.ts";
import {
  callByPost,
  connectClient,
  connectEarlierClient,
  finishRun,
  type McpTarget,
  postMessage,
  type ToolResult,
  textOf,
} from "./mcp-clients.ts";

/** Creates with a reset connection. `CREATES=200` is the campaign. */
const CREATES = Number(process.env.CREATES ?? 20);
const WAIT_SECONDS = 3;
const PRICE = 0.04;
const HIGH_PRICE = 0.75;

const folder = mkdtempSync(join(tmpdir(), "gesso-mcp-"));
let environment: TestEnvironment;
let provider: IdentityProvider;
let signer: Signer;
let proxy: TcpProxy;
let client: Awaited<ReturnType<typeof connectClient>>;
const tenant = v7();

beforeAll(async () => {
  const file = join(folder, "gesso.yaml");
  writeFileSync(
    file,
    `models:
  flux-dev: [{ provider: sandbox, price: ${PRICE} }]
  vendora: [{ provider: sandbox, price: ${HIGH_PRICE} }]
`,
  );
  signer = await newSigner("RS256", "first");
  provider = await startIdentityProvider(["alice"], [signer]);
  const issuer = { id: "corp", issuer: provider.issuer, audience: AUDIENCE, tenant_id: tenant, role: "developer" };
  environment = await startTestEnvironment({
    env: {
      ...{
        GESSO_CONFIG: file,
        MCP_CONFIRM_ABOVE: "0.5",
        MCP_CONFIRM_COST_MAX: "2",
        SYNC_SECONDS: String(WAIT_SECONDS),
      },
      OIDC_ISSUERS: JSON.stringify([issuer]),
    },
  });
  await environment.query("insert into tenants (tenant_id, name) values ($1, 'Corp')", [tenant]);
  proxy = await startTcpProxy(Number(new URL(environment.url).port));
  client = await connectClient(environment);
});
afterAll(async () => {
  await client?.close();
  await proxy?.close();
  await environment?.stop();
  provider?.close();
  rmSync(folder, { recursive: true, force: true });
});

type Calls = { callTool(call: { name: string; arguments: Record<string, unknown> }): Promise<unknown> };
const call = async (name: string, args: Record<string, unknown>, by: Calls = client) =>
  (await by.callTool({ name, arguments: args })) as ToolResult;
const behindProxy = (): McpTarget => ({ url: `http://127.0.0.1:${proxy.port}`, key: environment.key });
const runsWith = (prompt: string) =>
  environment.query<{ run_id: string; status: string }>(
    "select run_id, status from runs where inputs ->> 'prompt' = $1",
    [prompt],
  );
const jobsWith = async (prompt: string) =>
  (await readSandboxLedger(environment)).filter(({ request }) => request.prompt === prompt.replace(/ ?\[.*\]/, ""));
/** Calls make_image and resets the connection when the run exists, before the response. */
async function callAndLose(args: { prompt: string; width: number; height: number }, by: Calls): Promise<void> {
  const lost = expect(call("make_image", args, by)).rejects.toThrow();
  await expect.poll(() => runsWith(args.prompt), { interval: 20 }).toHaveLength(1);
  proxy.cut();
  await lost;
}
const statusOf = async (prompt: string) => (await runsWith(prompt))[0]?.status;

describe("a slow run", () => {
  it("[MCP-4] is answered with its ID before clients give up, and get_run brings its result", async () => {
    expect(MAX_WAIT_SECONDS).toBeLessThanOrEqual(45);
    const slow = await call("make_image", { prompt: "a slow ship [sandbox:delay=8]" });
    expect(slow.structuredContent).toMatchObject({ status: "processing", images: [] });
    expect(textOf(slow)).toContain(`Call get_run with run_id ${slow.structuredContent.run_id}`);
    const ended = await finishRun(client, slow);
    expect(ended.structuredContent).toMatchObject({
      ...{ run_id: slow.structuredContent.run_id, status: "completed", cost: { amount: PRICE } },
    });
  });

  it("[MCP-7] goes on when the client closes the stream, and cancel_run ends it", async () => {
    const prompt = "an abandoned ship [sandbox:delay=2]";
    const abort = new AbortController();
    const abandoned = client.callTool({ name: "make_image", arguments: { prompt } }, { signal: abort.signal });
    const refused = expect(abandoned).rejects.toThrow();
    await expect.poll(() => statusOf(prompt)).toBeDefined();
    abort.abort();
    await refused;
    await expect.poll(() => statusOf(prompt)).toBe("completed");

    const endless = await call("make_image", { prompt: "an endless sea [sandbox:never]" });
    const { run_id } = endless.structuredContent;
    expect((await call("cancel_run", { run_id })).isError).toBeFalsy();
    expect((await finishRun(client, endless)).structuredContent.status).toBe("canceled");
    const again = await call("cancel_run", { run_id });
    expect([again.isError, textOf(again)]).toEqual([true, expect.stringContaining("run_not_cancelable")]);
  });
});

describe("a call that is repeated", () => {
  it("[MCP-6] after a lost connection joins its run", async () => {
    const prompt = "a lost ship [sandbox:delay=1]";
    const args = { prompt, width: 64, height: 64 };
    const lossy = await connectClient(behindProxy());
    await callAndLose(args, lossy);
    const joined = await finishRun(lossy, await call("make_image", args, lossy));
    const runs = await runsWith(prompt);
    expect(runs.map(({ run_id }) => run_id)).toEqual([joined.structuredContent.run_id]);
    expect(await jobsWith(prompt)).toHaveLength(1);
    // Both responses arrived from here on: these are two images.
    const next = await call("make_image", args, lossy);
    expect(next.structuredContent.run_id).not.toBe(joined.structuredContent.run_id);
    await lossy.close();
  });

  it(`[MCP-6] campaign: ${CREATES} creates with a reset connection are ${CREATES} runs and ${CREATES} jobs`, async () => {
    const lossy = await connectClient(behindProxy());
    const ids = new Set<string>();
    for (let index = 0; index < CREATES; index++) {
      const args = { prompt: `campaign ship ${index} [sandbox:delay=0.5]`, width: 64, height: 64 };
      await callAndLose(args, lossy);
      ids.add((await call("make_image", args, lossy)).structuredContent.run_id);
    }
    await lossy.close();
    const count = "select count(*)::int as count from runs where inputs ->> 'prompt' like 'campaign ship %'";
    const jobs = async () =>
      (await readSandboxLedger(environment)).filter(({ request }) => String(request.prompt).includes("campaign ship"));
    await expect.poll(async () => (await jobs()).length).toBe(CREATES);
    expect([ids.size, (await environment.query<{ count: number }>(count))[0]!.count]).toEqual([CREATES, CREATES]);
    expect((await jobs()).every(({ posts }) => posts === 1)).toBe(true);
  });
});

describe("a cost above the threshold", () => {
  const expensive = (prompt: string) => ({ prompt, model: "vendora" });

  it("[MCP-9] is confirmed by the user of a client that can ask", async () => {
    const questions: string[] = [];
    const ask = (answer: boolean) =>
      connectClient(environment, (message) => {
        questions.push(message);
        return answer;
      });
    const [yes, no] = [await ask(true), await ask(false)];
    const declined = await call("make_image", expensive("a declined palace [sandbox:delay=0]"), no);
    expect(textOf(declined)).toContain("No run was created");
    expect(await runsWith("a declined palace [sandbox:delay=0]")).toEqual([]);
    const made = await finishRun(yes, await call("make_image", expensive("a palace [sandbox:delay=0]"), yes));
    expect(made.structuredContent).toMatchObject({ status: "completed", cost: { amount: HIGH_PRICE } });
    expect(questions).toEqual([expect.stringContaining("$0.75"), expect.stringContaining("$0.75")]);
    expect(await runsWith("a palace [sandbox:delay=0]")).toHaveLength(1);
    await Promise.all([yes.close(), no.close()]);
  });

  it("[MCP-9] is refused by a sentence that names confirm_cost for other clients", async () => {
    const earlier = await connectEarlierClient(environment);
    const prompt = "a refused palace [sandbox:delay=0]";
    for (const confirm of [{}, { confirm_cost: 0.7 }]) {
      const refused = await call("make_image", { ...expensive(prompt), ...confirm }, earlier);
      expect([refused.isError, textOf(refused)]).toEqual([true, expect.stringContaining("confirm_cost: 0.75")]);
    }
    expect(await runsWith(prompt)).toEqual([]);
    const confirmed = await call("make_image", { ...expensive(prompt), confirm_cost: 0.75 }, earlier);
    expect(confirmed.structuredContent.run_id).toBeDefined();
    expect(await runsWith(prompt)).toHaveLength(1);
    await earlier.close();
  });

  it("[MCP-9] is not confirmed by confirm_cost of a client that can ask, or above MCP_CONFIRM_COST_MAX", async () => {
    const questions: string[] = [];
    const asking = await connectClient(environment, (message) => {
      questions.push(message);
      return false;
    });
    const prompt = "a palace of the model [sandbox:delay=0]";
    const declined = await call("make_image", { ...expensive(prompt), confirm_cost: 1000 }, asking);
    expect([questions.length, textOf(declined)]).toEqual([1, expect.stringContaining("No run was created")]);
    const earlier = await connectEarlierClient(environment);
    const many = { ...expensive(prompt), count: 4, confirm_cost: 1000 };
    const refused = await call("make_image", many, earlier);
    expect([refused.isError, textOf(refused)]).toEqual([true, expect.stringContaining("confirm at most $2")]);
    expect(textOf(refused)).toContain("would cost $3");
    expect(await runsWith(prompt)).toEqual([]);
    await Promise.all([asking.close(), earlier.close()]);
  });

  it("[MCP-9] is not confirmed by a forged, foreign or exchanged state", async () => {
    const prompt = "a forged palace [sandbox:delay=0]";
    const asked = await callByPost(environment, "make_image", expensive(prompt));
    const { requestState, inputRequests } = asked.body.result;
    expect(Object.keys(inputRequests)).toEqual(["confirm_cost"]);
    const inputResponses = { confirm_cost: { action: "accept", content: { confirm: true } } };
    const [version, body, signature] = requestState.split(".");
    const payload = JSON.parse(Buffer.from(body, "base64url").toString());
    const forged = Buffer.from(JSON.stringify({ ...payload, p: { ...payload.p, estimate: 1000 } })).toString(
      "base64url",
    );
    const otherTenant = await createTestTenant(environment);
    for (const [target, state] of [
      [environment, `${version}.${forged}.${signature}`],
      [environment, "v1.e30.e30"],
      [{ url: environment.url, key: otherTenant.key }, requestState],
    ] as const) {
      const answer = await callByPost(target, "make_image", expensive(prompt), { inputResponses, requestState: state });
      expect(answer.body.error).toMatchObject({ code: -32602 });
    }
    // A confirmation counts for the call that was asked about, and for no other.
    const other = expensive("another palace [sandbox:delay=0]");
    const moved = await callByPost(environment, "make_image", other, { inputResponses, requestState });
    expect(moved.body.result.resultType).toBe("input_required");
    expect([...(await runsWith(prompt)), ...(await runsWith(other.prompt))]).toEqual([]);
    const accepted = await callByPost(environment, "make_image", expensive(prompt), { inputResponses, requestState });
    expect(accepted.body.result.structuredContent.run_id).toBeDefined();
    expect(await runsWith(prompt)).toHaveLength(1);
  });
});

it("[MCP-10] a spending limit of a token lets through what fits, and answers tell what is left", async () => {
  const { body } = await createHttpCaller(environment).post("/tokens", { ...TOKEN_REQUEST, max_spend: 0.1 });
  const agent = await connectClient({ url: environment.url, key: body.access_token });
  const spend = async (index: number) =>
    call("make_image", { prompt: `coin ${index} [sandbox:delay=0]`, width: 64, height: 64 }, agent);
  const [first, second] = [await spend(1), await spend(2)];
  expect(first.structuredContent.spend_left).toBeCloseTo(0.06);
  expect(second.structuredContent.spend_left).toBeCloseTo(0.02);
  const third = await spend(3);
  expect([third.isError, textOf(third)]).toEqual([true, expect.stringContaining("$0.02 of the spending limit")]);
  expect(await runsWith("coin 3 [sandbox:delay=0]")).toEqual([]);
  await agent.close();
});

describe("access", () => {
  it("[MCP-11] the response to a request without a valid credential names where to sign in", async () => {
    const metadataUrl = `${environment.url}/.well-known/oauth-protected-resource/mcp`;
    for (const key of ["", "gsk_wrong"]) {
      const { status, headers } = await postMessage({ url: environment.url, key }, "tools/list", {});
      expect([status, headers.get("www-authenticate")]).toEqual([401, `Bearer resource_metadata="${metadataUrl}"`]);
    }
    expect(await (await fetch(metadataUrl)).json()).toMatchObject({
      resource: `${environment.url}/mcp`,
      authorization_servers: [provider.issuer],
    });
  });

  it("[MCP-11] tokens of an identity provider count for their audience only, and other web pages are refused", async () => {
    const token = await provider.tokenFor("alice", "images:write runs:read");
    const target = { url: environment.url, key: token };
    expect((await postMessage(target, "tools/list", {})).status).toBe(200);
    const claims = { ...decodeJwt(token), aud: "urn:another" };
    const foreign = signUnchecked(decodeProtectedHeader(token), claims, signer);
    expect((await postMessage({ url: environment.url, key: foreign }, "tools/list", {})).status).toBe(401);
    const origin = async (value: string) =>
      (await postMessage(environment, "tools/list", {}, { origin: value })).status;
    expect([await origin("https://evil.example"), await origin("null"), await origin(environment.url)]).toEqual([
      ...[403, 403, 200],
    ]);
    expect((await fetch(`${environment.url}/mcp`, { headers: { authorization: `Bearer ${token}` } })).status).toBe(405);
  });

  it("[MCP-12] a run of another tenant does not exist", async () => {
    const made = await call("make_image", { prompt: "a private island [sandbox:delay=0]", width: 64, height: 64 });
    const { run_id } = made.structuredContent;
    const otherTenant = await createTestTenant(environment);
    const other = await connectClient({ url: environment.url, key: otherTenant.key });
    for (const [name, args] of [
      ...["get_run", "show_tree", "cancel_run"].map((tool) => [tool, { run_id }] as const),
      ...["describe_image", "cut_out", "make_video"].map((tool) => [tool, { image: run_id }] as const),
      ["edit_image", { image: run_id, prompt: "x" }],
      ["combine_images", { images: [run_id, run_id] }],
    ] as [string, Record<string, unknown>][]) {
      const [found, unknown] = [await call(name, args, other), await call(name, withId(args, run_id), other)];
      expect([name, found.isError, textOf(found)]).toEqual([name, true, expect.stringContaining("run_not_found")]);
      expect([name, textOf(found)]).toEqual([name, textOf(unknown)]);
    }
    await expect(other.readResource({ uri: `gesso://runs/${run_id}` })).rejects.toThrow();
    expect((await other.listResources()).resources).toEqual([]);
    await other.close();
  });

  it("[MCP-12] a credential without the scope of an operation cannot call it by a tool", async () => {
    const reader = await createTestTenant(environment, { scopes: ["runs:read"] });
    const target = { url: environment.url, key: reader.key };
    const refused = await callByPost(target, "make_image", { prompt: "x" });
    expect(refused.body.result).toMatchObject({ isError: true });
    expect(refused.body.result.content[0].text).toContain("images:write");
    expect((await callByPost(target, "list_runs", {})).body.result.structuredContent.runs).toEqual([]);
  });
});

describe("an agent whose key may do everything", () => {
  const operate = (key: string, operation: string, input: object) =>
    callByPost({ url: environment.url, key }, "call_operation", { operation, input });

  it("[MCP-12] makes no credential, pays nothing in and repairs nothing, unless its key names agents:write", async () => {
    const { tenant_id, key } = await createTestTenant(environment, { scopes: OPERATOR_SCOPES });
    const attempts: [operation: string, input: object][] = [
      ["keys.create", { name: "permanent", scopes: ["*"] }],
      ["tokens.create", { expires_in: 600 }],
      ["members.add", { user_id: "mallory", role: "owner" }],
      ["webhooks.create", { url: "https://example.com/hook", events: ["run.completed"] }],
      ["tenants.credit", { tenant_id, amount: 1000 }],
      ["tenants.list", {}],
      ["admin.pause", { provider: "sandbox" }],
    ];
    for (const [operation, input] of attempts) {
      const { result } = (await operate(key, operation, input)).body;
      expect([operation, result.isError, result.content[0].text]).toEqual([
        ...[operation, true, "The credential lacks the scope agents:write. (insufficient_scope)"],
      ]);
    }
    const counted = "select count(*)::int as n from api_keys where tenant_id = $1";
    expect(await environment.query(counted, [tenant_id])).toEqual([{ n: 1 }]);

    const named = await createTestTenant(environment, { scopes: ["*", "agents:write"] });
    const made = (await operate(named.key, "keys.create", { name: "for a person", scopes: ["runs:read"] })).body.result;
    expect(made.structuredContent.response.key).toMatch(/^gsk_/);
    expect((await operate(named.key, "tenants.list", {})).body.result.isError).toBe(true);
  });

  it("[MCP-12] gets at most 20 errors and short ones, whatever it sends", async () => {
    const fields = Object.fromEntries(Array.from({ length: 19_000 }, (_, index) => [`f${index}`, index]));
    const many = await callByPost(environment, "make_image", { prompt: "x", ...fields });
    expect(many.text.length).toBeLessThan(5000);
    expect(many.body.result.content[0].text).toMatch(
      /^19000 fields are invalid\. .*\n18980 more errors are not listed\.$/s,
    );
    const long = Object.fromEntries(Array.from({ length: 18 }, (_, index) => ["f".repeat(50_000) + index, index]));
    expect((await callByPost(environment, "make_image", { prompt: "x", ...long })).text.length).toBeLessThan(10_000);
    const caller = createHttpCaller(environment);
    const { status, body } = await caller.post("/runs/generate", { prompt: "x", ...fields });
    expect([status, body.details.errors.length, body.details.error_count]).toEqual([400, 20, 19_000]);
  });
});

/** The same arguments with an ID that no run has. */
const withId = (args: Record<string, unknown>, id: string) => JSON.parse(JSON.stringify(args).replaceAll(id, v7()));
