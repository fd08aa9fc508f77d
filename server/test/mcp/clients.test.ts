// MCP clients of three kinds, the official conformance suite and stdio against a running Gesso, and the form of what
// they get: the list of tools, the size of results, progress and resources.
import { spawn } from "node:child_process";
import { createServer, type Server, request as sendRequest } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import sharp from "sharp";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { needsAgentScope } from "../../src/access/scopes.ts";
import { operations } from "../../src/operations/all.ts";
import { createHttpCaller } from "../support/api-caller.ts";
import { installPython, runPython } from "../support/python.ts";
import { createTestTenant } from "../support/tenants.ts";
import { startTestEnvironment, type TestEnvironment } from "../support/test-environment.ts";
import {
  callByPost,
  connectClient,
  connectEarlierClient,
  finishRun,
  postMessage,
  type ToolResult,
  textOf,
} from "./mcp-clients.ts";

const ROOT = join(import.meta.dirname, "../../..");
const PROMPT = "a red bicycle [sandbox:delay=0]";
const TOOL_NAMES = [
  ...["make_image", "edit_image", "cut_out", "erase", "reframe", "combine_images", "make_video", "describe_image"],
  ...["get_run", "list_runs", "show_tree", "cancel_run", "estimate", "list_models"],
  ...["call_operation", "describe_operation"],
];

let environment: TestEnvironment;
let client: Client;
/** Adds the credential, because the conformance suite cannot send one. */
let authorizing: { url: string; server: Server };

beforeAll(async () => {
  authorizing = await startAuthorizingProxy(() => environment);
  [environment] = await Promise.all([
    startTestEnvironment({ env: { CORS_ORIGINS: authorizing.url } }),
    installPython(),
  ]);
  client = await connectClient(environment);
});
afterAll(async () => {
  await client?.close();
  await environment?.stop();
  authorizing?.server.close().closeAllConnections();
});

async function startAuthorizingProxy(target: () => TestEnvironment) {
  const server = createServer((incoming, response) => {
    const headers = { ...incoming.headers, authorization: `Bearer ${target().key}` };
    const outgoing = sendRequest(`${target().url}${incoming.url}`, { method: incoming.method, headers }, (received) => {
      response.writeHead(received.statusCode!, received.headers);
      received.pipe(response);
    });
    outgoing.on("error", () => response.destroy());
    incoming.pipe(outgoing);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, server };
}

const call = async (name: string, args: Record<string, unknown>) =>
  (await client.callTool({ name, arguments: args })) as ToolResult;
const makeImage = async (prompt = PROMPT, more = {}) =>
  finishRun(client, await call("make_image", { prompt, width: 256, height: 192, ...more }));

describe("clients", () => {
  it("[MCP-1] the JavaScript client of 2026-07-28 discovers, lists, calls and gets progress", async () => {
    expect(client.getNegotiatedProtocolVersion()).toBe("2026-07-28");
    expect(client.getServerVersion()).toMatchObject({ name: "gesso" });
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(TOOL_NAMES);
    const progress: number[] = [];
    const result = (await client.callTool(
      { name: "make_image", arguments: { prompt: "a slow bicycle [sandbox:delay=2]" } },
      { onprogress: (report) => progress.push(report.progress) },
    )) as ToolResult;
    expect(result.structuredContent).toMatchObject({ status: "completed" });
    expect(result.content.map(({ type }) => type)).toEqual(["text", "image", "resource_link"]);
    expect(progress.length).toBeGreaterThan(0);
  });

  it("[MCP-1] the JavaScript client of 2025-11-25 lists, calls and gets progress", async () => {
    const earlier = await connectEarlierClient(environment);
    expect((await earlier.listTools()).tools.map(({ name }) => name)).toEqual(TOOL_NAMES);
    const progress: number[] = [];
    const result = (await earlier.callTool(
      { name: "make_image", arguments: { prompt: "a slow bicycle of 2025 [sandbox:delay=2]" } },
      undefined,
      { onprogress: (report) => progress.push(report.progress) },
    )) as ToolResult;
    expect(result.structuredContent).toMatchObject({ status: "completed" });
    expect(progress.length).toBeGreaterThan(0);
    await earlier.close();
  });

  it("[MCP-1] the Python client lists, calls and gets progress", async () => {
    const program = `
import asyncio, json, os
import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

async def main():
    progress = []
    async def report(value, total, message):
        progress.append(value)
    http = httpx2.AsyncClient(headers={"authorization": "Bearer " + os.environ["KEY"]}, timeout=60)
    async with Client(streamable_http_client(os.environ["URL"] + "/mcp", http_client=http)) as client:
        tools = await client.list_tools()
        arguments = {"prompt": "a slow bicycle of Python [sandbox:delay=2]"}
        result = await client.call_tool("make_image", arguments, progress_callback=report)
        plain = await client.call_tool("list_runs", {"limit": 1})
        print(json.dumps({
            "tools": [tool.name for tool in tools.tools],
            "types": [block.type for block in result.content],
            "status": result.structured_content["status"],
            "progress": len(progress),
            "runs": len(plain.structured_content["runs"]),
        }))

asyncio.run(main())
`;
    const seen = await runPython(program, { env: { URL: environment.url, KEY: environment.key } });
    expect(seen).toMatchObject({
      tools: TOOL_NAMES,
      types: ["text", "image", "resource_link"],
      status: "completed",
      runs: 1,
    });
    expect((seen as { progress: number }).progress).toBeGreaterThan(0);
  });

  it("[MCP-12] gesso mcp lists the same tools over stdio, and calls them", async () => {
    const transport = new StdioClientTransport({
      command: process.execPath,
      args: [join(ROOT, "cli/src/main.ts"), "mcp"],
      env: { ...process.env, GESSO_URL: environment.url, GESSO_API_KEY: environment.key } as Record<string, string>,
    });
    const stdio = new Client({ name: "tests", version: "1.0.0" }, { versionNegotiation: { mode: "auto" } });
    await stdio.connect(transport);
    expect((await stdio.listTools()).tools).toEqual((await client.listTools()).tools);
    const progress: number[] = [];
    const made = (await stdio.callTool(
      { name: "make_image", arguments: { prompt: PROMPT } },
      { onprogress: (report) => progress.push(report.progress) },
    )) as ToolResult;
    expect((await finishRun(stdio, made)).structuredContent).toMatchObject({ status: "completed" });
    expect(progress.length).toBeGreaterThan(0);
    await stdio.close();
  });

  it("[MCP-2] the official conformance suite passes, but for its own tools and prompts", async () => {
    const suite = fileURLToPath(import.meta.resolve("@modelcontextprotocol/conformance/dist/index.js"));
    const baseline = join(import.meta.dirname, "conformance-baseline.yml");
    const args = ["server", "--url", `${authorizing.url}/mcp`, "--expected-failures", baseline];
    const child = spawn(process.execPath, [suite, ...args], { cwd: environment.storageDir });
    const [stdout, code] = await Promise.all([
      text(child.stdout),
      new Promise<number | null>((resolve) => child.once("exit", resolve)),
    ]);
    for (const scenario of ["server-initialize", "ping", "tools-list", "resources-list", "dns-rebinding-protection"])
      expect(stdout).toMatch(new RegExp(`✓ ${scenario}: [1-9]\\d* passed, 0 failed`));
    expect(code, stdout).toBe(0);
  });
});

describe("the list of tools", () => {
  it("[MCP-3] has at most 24 kB, the same order twice, and says all about each tool", async () => {
    const [first, second] = [
      await postMessage(environment, "tools/list", {}),
      await postMessage(environment, "tools/list", {}),
    ];
    expect(first.text).toBe(second.text);
    expect(first.text.length).toBeLessThanOrEqual(24_000);
    expect(first.body.result).toMatchObject({ ttlMs: 3_600_000, cacheScope: "public" });
    for (const tool of first.body.result.tools) {
      expect([tool.name, tool.inputSchema.type, tool.outputSchema.type]).toEqual([tool.name, "object", "object"]);
      for (const text of [tool.title, tool.description]) expect(text).toMatch(/\w/);
      expect(Object.keys(tool.annotations).sort()).toEqual([
        ...["destructiveHint", "idempotentHint", "openWorldHint", "readOnlyHint"],
      ]);
      for (const [name, field] of Object.entries<any>(tool.inputSchema.properties))
        expect([tool.name, name, typeof field.description]).toEqual([tool.name, name, "string"]);
    }
  });

  it("[MCP-3] describes fields with the words of the contract", async () => {
    const { tools } = await client.listTools();
    const field = (tool: string, name: string) =>
      (tools.find((each) => each.name === tool)!.inputSchema.properties as Record<string, any>)[name];
    const contract = (await (await fetch(`${environment.url}/openapi.json`)).json()) as any;
    const properties = (path: string) =>
      contract.paths[`/api/v1${path}`].post.requestBody.content["application/json"].schema.properties;
    expect(field("make_image", "model").enum).toEqual(properties("/runs/generate").model_type.enum);
    expect(field("reframe", "model").enum).toEqual(properties("/edits/reframe").model.enum);
    expect(properties("/runs/video").duration.description).toContain(field("make_video", "duration").description);
    const [firstSentence] = properties("/edits").image.description.split(". ");
    expect(field("edit_image", "image").description).toContain(`${firstSentence}. `);
  });

  it("[MCP-3] reaches every operation that is no stream and needs no file", async () => {
    const { operations: listed } = (await call("describe_operation", {})).structuredContent;
    const others = operations.filter(({ events, http }) => events || (http.bodies && !http.bodies.includes("json")));
    const reachable = operations.filter((each) => !others.includes(each));
    const namesOf = (list: { name: string }[]) => list.map(({ name }) => name).sort();
    expect(namesOf(listed)).toEqual(namesOf(reachable.filter((each) => !needsAgentScope(each))));
    const manager = await createTestTenant(environment, { scopes: ["*", "agents:write"] });
    const all = await callByPost({ url: environment.url, key: manager.key }, "describe_operation", {});
    expect(namesOf(all.body.result.structuredContent.operations)).toEqual(namesOf(reachable));
    const described = await call("describe_operation", { operation: "images.upscale" });
    expect(described.structuredContent.input_schema.properties).toHaveProperty("factor");
    const { run_id } = (await makeImage()).structuredContent;
    const input = { run_id, factor: 2, sync: false };
    const upscaled = await finishRun(client, await call("call_operation", { operation: "images.upscale", input }));
    expect(upscaled.structuredContent).toMatchObject({ status: "completed", images: [{ width: 512, height: 384 }] });
    const usage = await call("call_operation", { operation: "usage.get" });
    expect(usage.structuredContent.response).toMatchObject({ currency: "USD" });
    const refused = await call("call_operation", { operation: "images.upload", input: {} });
    expect(textOf(refused)).toContain("takes a file");
  });
});

describe("results", () => {
  it("[MCP-5] have at most 100 kB, a small preview, links, and no image in text or data", async () => {
    const result = await makeImage("four bicycles [sandbox:delay=0]", { width: 1024, height: 1024, count: 4 });
    expect(JSON.stringify(result).length).toBeLessThanOrEqual(100_000);
    const previews = result.content.filter(({ type }) => type === "image");
    expect(previews.length).toBeGreaterThan(0);
    for (const { data, mimeType } of previews) {
      const { width, height, format } = await sharp(Buffer.from(data!, "base64")).metadata();
      expect([mimeType, format]).toEqual(["image/webp", "webp"]);
      expect(Math.max(width, height)).toBeLessThanOrEqual(512);
    }
    const links = result.content.filter(({ type }) => type === "resource_link");
    expect(links).toHaveLength(4);
    const file = await fetch(links[0]!.uri!);
    const size = (await file.arrayBuffer()).byteLength;
    expect([file.headers.get("content-type"), size]).toEqual([links[0]!.mimeType, links[0]!.size]);
    expect(textOf(result)).toContain(links[0]!.uri);
    const { run_id, status, cost, images, next } = result.structuredContent;
    expect({ status, cost, next: typeof next }).toEqual({
      ...{ status: "completed", cost: { amount: 0, currency: "USD" }, next: "string" },
    });
    expect(images[0]).toEqual({
      ...{ run_id, output_index: 0, url: links[0]!.uri, media_type: "image/png", width: 1024, height: 1024 },
    });
    for (const each of [JSON.stringify(result.structuredContent), textOf(result)])
      expect(each).not.toMatch(/[A-Za-z0-9+/]{200,}/);
  });

  it("[MCP-5] of every tool are valid for their schemas", async () => {
    // The client validates each result against the schema of its tool.
    const { run_id } = (await makeImage()).structuredContent;
    const mask = (await finishRun(client, await call("cut_out", { image: run_id, prompt: "bicycle", mode: "mask" })))
      .structuredContent;
    const calls: [string, Record<string, unknown>][] = [
      ["edit_image", { image: run_id, prompt: `snow ${PROMPT}` }],
      ["edit_image", { image: run_id, prompt: `gold ${PROMPT}`, mask: mask.run_id }],
      ["cut_out", { image: run_id }],
      ["erase", { image: run_id, prompt: "bicycle" }],
      ["erase", { image: run_id, mask: mask.run_id }],
      ["reframe", { image: run_id, aspect_ratio: "16:9" }],
      ["combine_images", { images: [run_id, run_id], mode: "grid" }],
      ["combine_images", { images: [run_id, run_id], prompt: PROMPT }],
      ["make_video", { image: run_id, duration: 1 }],
      ["describe_image", { image: run_id }],
    ];
    for (const [name, args] of calls) {
      const result = await finishRun(client, await call(name, args));
      expect([name, textOf(result), result.structuredContent?.status]).toEqual([name, textOf(result), "completed"]);
    }
    const tree = (await call("show_tree", { run_id })).structuredContent;
    expect(tree.nodes.length).toBeGreaterThanOrEqual(calls.length);
    expect((await call("list_runs", { limit: 2 })).structuredContent.runs).toHaveLength(2);
    expect((await call("list_models", {})).structuredContent.models.length).toBeGreaterThan(5);
    const estimate = await call("estimate", { operation: "make_image", input: { prompt: "x", count: 3 } });
    expect(estimate.structuredContent).toMatchObject({ amount: 0, basis: [{ quantity: 3 }] });
  });

  it("[MCP-5] of a failed run and of invalid arguments are errors in words", async () => {
    const failed = await makeImage("[sandbox:fail,delay=0] a failure");
    expect([failed.isError, failed.structuredContent.status]).toEqual([true, "failed"]);
    const invalid = await call("edit_image", { image: "no image", prompt: "x", brush: 3 });
    expect([invalid.isError, textOf(invalid)]).toEqual([true, expect.stringContaining("brush: Unknown field.")]);
    const wrong = await call("edit_image", { image: "no image", prompt: "x" });
    expect(textOf(wrong)).toContain("image: Must be a URL");
    const large = await call("describe_image", { image: `data:image/png;base64,${"A".repeat(7_000_000)}` });
    expect(textOf(large)).toContain("more than 5 MB");
    await expect(client.callTool({ name: "paint_house", arguments: {} })).rejects.toThrow(/Unknown tool/);
  });

  it("[MCP-8] come with progress only if the client asked for it, and it rises", async () => {
    const silent = await callByPost(environment, "make_image", { prompt: "silent [sandbox:delay=2]" });
    expect(silent.headers.get("content-type")).toContain("application/json");
    const progress: number[] = [];
    await client.callTool(
      { name: "make_image", arguments: { prompt: "loud [sandbox:delay=3]" } },
      { onprogress: (report) => progress.push(report.progress) },
    );
    expect(progress.length).toBeGreaterThan(2);
    expect(progress).toEqual([...new Set(progress)].sort((a, b) => a - b));
  });

  it("[MCP-5] are listed as resources", async () => {
    const { run_id } = (await makeImage()).structuredContent;
    const { resources } = await client.listResources();
    expect(resources[0]).toMatchObject({ uri: `gesso://runs/${run_id}`, title: PROMPT });
    const [run] = (await client.readResource({ uri: `gesso://runs/${run_id}` })).contents as any[];
    expect(JSON.parse(run.text)).toMatchObject({ run_id, status: "completed" });
    const [preview] = (await client.readResource({ uri: `gesso://runs/${run_id}/preview` })).contents as any[];
    expect(await sharp(Buffer.from(preview.blob, "base64")).metadata()).toMatchObject({ width: 256, height: 192 });
    const { body } = await createHttpCaller(environment).get(`/runs/${run_id}`);
    expect(body.operation).toBe("images.generate");
  });
});
