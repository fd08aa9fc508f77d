// The command line beside a real `gesso dev`: what it prints, which runs it makes and how it ends.
import { createHash } from "node:crypto";
import { existsSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Run } from "@gesso/client";
import { afterAll, beforeAll, expect, it, onTestFinished } from "vitest";
import { commandExample } from "../src/command-example.ts";
import { listOperationCommands } from "../src/commands/operations.ts";
import { saveOutputs } from "../src/runs/save-outputs.ts";
import { type CliEnvironment, startCliEnvironment, waitUntil } from "./support/cli-environment.ts";
import { drawExampleImages } from "./support/drawn-images.ts";
import { startResettingProxy } from "./support/resetting-proxy.ts";

const CREATES = Number(process.env.CREATES ?? 5);
const AT_A_TIME = 4;
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const ESCAPE = "\u001b";
const findControls = (text: string) => [ESCAPE, "\u009b", "\u0007"].filter((control) => text.includes(control));

let environment: CliEnvironment;

beforeAll(async () => {
  environment = await startCliEnvironment();
  drawExampleImages(environment.folder);
});
afterAll(() => environment?.stop());

const sha256 = (path: string) => createHash("sha256").update(readFileSync(path)).digest("hex");
/** Reads the list itself, because the index of words follows a moment later. */
const findRuns = async (prompt: string) => {
  const runs = await environment.client.runs.list({ limit: 100 }).toArray({ limit: 1000 });
  return runs.filter(({ inputs }) => String(inputs.prompt).startsWith(prompt));
};
const countRuns = async () => {
  let count = 0;
  for await (const _run of environment.client.runs.list({ limit: 100 })) count++;
  return count;
};
const small = ["--width", "64", "--height", "64"];

it("[CLI-1] prints one JSON document with --json, and one ID with -q", async () => {
  const { code, stdout } = await environment.shell(
    "gesso generate x --width 64 --height 64 --json 2>/dev/null | jq -e .run_id",
  );
  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toMatch(UUID);
  const quiet = await environment.run(["generate", "x", "-q", ...small]);
  expect([quiet.code, quiet.stderr]).toEqual([0, ""]);
  expect(quiet.stdout.trim()).toMatch(UUID);
  expect((await environment.client.runs.get(quiet.stdout.trim())).status).toBe("completed");
});

it("[CLI-3] uploads a file, waits, and writes the result whole, without overwriting", async () => {
  const { folder, run, client } = environment;
  const edit = ["edit", "desk.png", "make it snow", "-o", "out/snow.png"];
  const first = await run(edit);
  expect([first.code, first.stderr]).toEqual([0, ""]);
  const made = JSON.parse(first.stdout) as Run & { files: string[] };
  expect(made.files).toEqual(["out/snow.png"]);
  expect(sha256(join(folder, "out/snow.png"))).toBe(made.outputs[0]!.sha256);

  const before = await countRuns();
  const second = await run(edit);
  expect([second.code, second.stdout]).toEqual([2, ""]);
  expect(second.stderr).toBe("gesso edit: out/snow.png exists. Use --force to overwrite it.\n");
  expect(await countRuns()).toBe(before);
  expect(sha256(join(folder, "out/snow.png"))).toBe(made.outputs[0]!.sha256);

  writeFileSync(join(folder, "out/snow.png"), "old");
  expect((await run([...edit, "--force", "--idempotency-key", "again"])).code).toBe(0);
  expect(readFileSync(join(folder, "out/snow.png")).subarray(1, 4).toString()).toBe("PNG");
  expect(readdirSync(join(folder, "out"))).toEqual(["snow.png"]);

  const saved = await run(["files", "get", made.run_id, "-o", "got/%id-%n"]);
  expect(saved.code).toBe(0);
  expect(readdirSync(join(folder, "got"))).toEqual([`${made.run_id}-1.png`]);
  expect((await client.runs.get(made.run_id)).status).toBe("completed");
});

it("[CLI-3] leaves no file if a download of several ends early", async () => {
  const folder = mkdtempSync(join(tmpdir(), "gesso-save-"));
  const bytes = Buffer.from("a whole file");
  const server = createServer((request, response) => {
    response.writeHead(200, { "content-length": bytes.length });
    response.write(request.url === "/whole" ? bytes : bytes.subarray(0, 4));
    if (request.url === "/whole") response.end();
    else response.destroy();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const hash = createHash("sha256").update(bytes).digest("hex");
  const output = (path: string) => ({ url: url + path, sha256: hash, role: "result", media_type: "image/png" });
  const run = { run_id: "r", outputs: [output("/whole"), output("/cut")] } as unknown as Run;
  await expect(saveOutputs(run, { output: join(folder, "a.png") })).rejects.toThrow(/Cannot download/);
  expect(readdirSync(folder)).toEqual([]);
});

it("[CLI-4] passes runs from command to command, which makes one tree", async () => {
  const { shell, client, folder } = environment;
  const { code, stdout } = await shell(
    "gesso generate cat --width 64 --height 64 -q | gesso remove-background - | gesso reframe - --ratio 1:1 -o c.png -q",
  );
  expect(code).toBe(0);
  expect(existsSync(join(folder, "c.png"))).toBe(true);
  const tree = await client.runs.tree(stdout.trim());
  expect(tree.nodes.map(({ run_type }) => run_type)).toEqual(["image-generation", "background-removal", "reframe"]);
  expect(tree.totals.runs).toBe(3);
});

it("[CLI-9] runs tree shows the state and the cost of each run, and its JSON is that of the API", async () => {
  const { run, client, terminal } = environment;
  const root = await client.images.generate({ prompt: "a cat", width: 64, height: 64 }).wait();
  const child = await client.images.upscale({ run_id: root.run_id }).wait();
  await client.images.describe({ run_id: child.run_id, sync: true });
  const shown = await terminal(`gesso runs tree ${child.run_id}`, { NO_COLOR: "1" });
  const lines = shown.stdout.trim().split("\r\n");
  expect(lines[0]).toMatch(new RegExp(`^image-generation +completed +\\$0\\.02  ${root.run_id}  a cat$`));
  expect(lines[1]).toMatch(new RegExp(`^└─ upscale +completed +\\$0\\.00  ${child.run_id}$`));
  expect(lines[2]).toMatch(/^ {3}└─ describe +completed +\$0\.00/);
  expect(lines[3]).toBe("3 runs, $0.02");
  const json = await run(["runs", "tree", child.run_id, "--json"]);
  expect(JSON.parse(json.stdout)).toEqual(JSON.parse(JSON.stringify(await client.runs.tree(child.run_id))));
});

it("[CLI-5] gets the same run and one job for the same idempotency key after kill -9", async () => {
  const { start, run, listJobs } = environment;
  const prompt = "kill me [sandbox:delay=3]";
  const parameters = ["generate", prompt, "--idempotency-key", "killed-once", ...small];
  const first = start(parameters);
  const found = await waitUntil(
    () => findRuns("kill me"),
    (runs) => runs.length === 1,
  );
  first.child.kill("SIGKILL");
  await first.closed;
  const again = await run(parameters);
  expect(again.code).toBe(0);
  expect(JSON.parse(again.stdout)).toMatchObject({ run_id: found[0]!.run_id, status: "completed" });
  expect((await listJobs()).filter(({ reference }) => reference.startsWith(found[0]!.run_id))).toHaveLength(1);
});

it("[CLI-5] gets the same run for the same idempotency key although a file was uploaded first", async () => {
  const { run } = environment;
  const extract = () => run(["extract", "shapes.png", "the red circle", "-q", "--idempotency-key", "uploaded-once"]);
  const [first, second] = [await extract(), await extract()];
  expect([first.code, first.stderr]).toEqual([0, ""]);
  expect(second).toEqual(first);
});

it("[CLI-6] leaves the run on Ctrl-C without a terminal, and runs watch follows it to its end", async () => {
  const { start, run, client } = environment;
  const waiting = start(["generate", "interrupted boat [sandbox:delay=4]", ...small]);
  await waitUntil(
    () => findRuns("interrupted"),
    ([found]) => found?.status === "processing",
  );
  waiting.child.kill("SIGINT");
  const { code, stdout, stderr } = await waiting.closed;
  expect(code).toBe(130);
  const { run_id } = JSON.parse(stdout);
  expect(stderr).toContain(`The run goes on. Wait for it with: gesso runs watch ${run_id}`);
  expect(stderr).toContain("Idempotency key: gesso-");
  const watched = await run(["runs", "watch", "-"], { input: run_id });
  expect(watched.code).toBe(0);
  const types = watched.stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line).type);
  expect(types.at(-1)).toBe("run.completed");
  expect((await client.runs.get(run_id)).status).toBe("completed");
});

it("[CLI-6] asks on a terminal whether to cancel the run, and a second Ctrl-C leaves it", async () => {
  const { startTerminal, client } = environment;
  const press = async (prompt: string, keys: string[]) => {
    const { child, stdout, closed } = startTerminal(`gesso generate '${prompt}' --width 64 --height 64`);
    await waitUntil(stdout, (text) => text.includes("processing"));
    child.stdin!.write("\u0003");
    await waitUntil(stdout, (text) => text.includes("Press c to cancel the run"));
    for (const key of keys) child.stdin!.write(key);
    return { ...(await closed), run: (await findRuns(prompt))[0]! };
  };
  const [canceled, left] = await Promise.all([
    press("cancelme [sandbox:delay=5]", ["c"]),
    press("leaveme [sandbox:delay=5]", ["\u0003"]),
  ]);
  expect(canceled.code).toBe(130);
  expect(canceled.stdout).toContain(`Canceled run ${canceled.run.run_id}.`);
  await waitUntil(
    async () => (await client.runs.get(canceled.run.run_id)).status,
    (status) => status === "canceled",
  );
  expect([left.code, left.run.status]).toEqual([130, "processing"]);
  expect(left.stdout).toContain(left.run.run_id);
});

it("[CLI-7] ends with a documented exit code for every kind of failure", async () => {
  const { run } = environment;
  const missing = "01990c3e-2f00-7000-8000-6f0c1a2b3c4d";
  const endings: [string[], number, string][] = [
    [["generate", "ok", ...small], 0, ""],
    [["generate", "no [sandbox:fail]", ...small], 1, "(code: provider_error)"],
    [["generate", "x", "--width", "99999"], 2, "--width: Must be at most 2048."],
    [["generate", "x", "--colour", "red"], 2, "unknown option '--colour'"],
    [["runs", "get", missing, "--key", "gsk_wrong"], 3, "invalid_api_key"],
    [["runs", "get", missing], 4, "run_not_found"],
    [["generate", "x", "--max-cost", "0.001", ...small], 5, "max_cost"],
    [["generate", "slow [sandbox:delay=3]", "--timeout", "1", ...small], 124, "The run goes on."],
  ];
  for (const [parameters, code, message] of endings) {
    const ended = await run(parameters);
    expect([parameters, ended.code]).toEqual([parameters, code]);
    expect(ended.stderr).toContain(message);
    const isRepeatable = parameters[0] === "generate" && code !== 0 && code !== 2;
    expect(ended.stderr.includes("Idempotency key: gesso-"), ended.stderr).toBe(isRepeatable);
  }
});

const RUN_COMMANDS = listOperationCommands().flatMap((spec) =>
  spec.operations
    .filter(({ operation }) => operation.hasEstimate)
    .map((each) => ({ operation: each.operation, commandLine: commandExample(spec, each) })),
);

/** Starts of programs take most of the time, so a few run beside each other. */
async function forEachAtATime<T>(items: T[], run: (item: T) => Promise<void>): Promise<void> {
  const pending = [...items];
  const worker = async () => {
    for (let item = pending.shift(); item !== undefined; item = pending.shift()) await run(item);
  };
  await Promise.all(Array.from({ length: AT_A_TIME }, worker));
}

it("[CLI-10] estimates any command without a run, as runs.estimate does", async () => {
  const { shell, client } = environment;
  const before = await countRuns();
  await forEachAtATime(RUN_COMMANDS, async ({ operation: { name: operation, example: input }, commandLine }) => {
    const { code, stdout, stderr } = await shell(`${commandLine} --estimate`);
    expect([commandLine, code, stderr]).toEqual([commandLine, 0, ""]);
    const estimate = await client.runs.estimate({ operation, input } as never);
    expect(JSON.parse(stdout)).toEqual(JSON.parse(JSON.stringify(estimate)));
  });
  const { run_id } = (await client.runs.list({ run_type: "image-generation", status: "completed" })).data[0]!;
  const rerun = await shell(`gesso runs rerun ${run_id} --changes '{"batch_size":3}' --estimate`);
  expect(JSON.parse(rerun.stdout)).toMatchObject({ amount: 0.06, basis: [{ quantity: 3 }] });
  expect(await countRuns()).toBe(before);
});

it("[CLI-2] executes the example in the help of every operation that creates a run", async () => {
  const { shell } = environment;
  await forEachAtATime(RUN_COMMANDS, async ({ operation, commandLine }) => {
    const { code, stdout, stderr } = await shell(commandLine);
    expect([commandLine, code, stderr]).toEqual([commandLine, 0, ""]);
    expect(JSON.parse(stdout)).toMatchObject({ operation: operation.name, status: "completed" });
  });
});

it("[CLI-10] cost prints what usage.get returns", async () => {
  const { run, client } = environment;
  const cost = await run(["cost", "--by", "model", "--json"]);
  expect(cost.code).toBe(0);
  expect(JSON.parse(cost.stdout)).toEqual(JSON.parse(JSON.stringify(await client.usage.get({ by: "model" }))));
  expect((await environment.terminal("gesso cost --by model")).stdout).toMatch(/flux-dev +\d+ .*\$0\.\d\d/);
});

it("[CLI-11] shows images only in a terminal that can, and not with --preview=off", async () => {
  const { terminal, shell, run } = environment;
  const runId = (await run(["generate", "a boat", "-q", ...small])).stdout.trim();
  const get = `gesso files get ${runId} --force -o boat.png`;
  const kitty = (await terminal(get, { KITTY_WINDOW_ID: "1" })).stdout;
  expect(kitty).toContain(`${ESCAPE}_Ga=T,f=100,c=40,m=`);
  const base64 = [...kitty.matchAll(/m=[01];([A-Za-z0-9+/=]*)/g)].map((match) => match[1]).join("");
  expect(createHash("sha256").update(Buffer.from(base64, "base64")).digest("hex")).toBe(
    sha256(join(environment.folder, "boat.png")),
  );
  const iterm = (await terminal(get, { TERM_PROGRAM: "iTerm.app" })).stdout;
  expect(iterm).toContain(`${ESCAPE}]1337;File=inline=1;size=`);
  expect((await terminal(get)).stdout).not.toMatch(/_G|1337/);
  expect((await terminal(`${get} --preview=off`, { KITTY_WINDOW_ID: "1" })).stdout).not.toContain("_G");
  const piped = await shell(`${get} --preview`, { KITTY_WINDOW_ID: "1" });
  expect(piped.stdout + piped.stderr).not.toContain(ESCAPE);
  const link = (await terminal(`gesso runs rerun ${runId} --preview=off`)).stdout;
  expect(link).toContain(`${ESCAPE}]8;;${environment.gesso.url}/files/`);
});

it("[CLI-12] prints no escape sequence without colours, and makes those in a prompt harmless", async () => {
  const { terminal, shell, run, client } = environment;
  const prompt = "wipe \u001b[2J \u009b31m \u001b]0;title\u0007 done";
  const { run_id } = await client.images.generate({ prompt, width: 64, height: 64 }).wait();
  const commands = [
    `runs list --limit 30`,
    `runs tree ${run_id}`,
    `runs get ${run_id}`,
    `generate boat --width 64 --height 64`,
  ];
  for (const command of commands) {
    const outputs = await Promise.all([
      terminal(`gesso ${command}`, { NO_COLOR: "1" }),
      terminal(`gesso ${command}`, { TERM: "dumb" }),
      shell(`gesso ${command}`),
    ]);
    for (const { stdout, stderr, code } of outputs) {
      expect([command, code]).toEqual([command, 0]);
      expect(findControls(stdout + stderr)).toEqual([]);
    }
  }
  expect((await terminal("gesso runs list --limit 30")).stdout).toContain("wipe \\u001b[2J \\u009b31m");
  const json = await run(["runs", "get", run_id, "--json"]);
  expect(findControls(json.stdout)).toEqual([]);
  expect(JSON.parse(json.stdout).inputs.prompt).toBe(prompt);
});

it(`makes one run and one job for each of ${CREATES} creates whose first connection was reset`, async () => {
  const { run, gesso, listJobs } = environment;
  const proxy = await startResettingProxy(Number(new URL(gesso.url).port));
  onTestFinished(() => proxy.close());
  const env = { GESSO_URL: proxy.url };
  const prompts = Array.from({ length: CREATES }, (_, index) => `reset number ${index}`);
  const ids: string[] = [];
  await forEachAtATime(prompts, async (prompt) => {
    const { code, stdout, stderr } = await run(["generate", prompt, "--no-wait", "-q", ...small], { env });
    expect([code, stderr]).toEqual([0, ""]);
    ids.push(stdout.trim());
  });
  expect(proxy.resetCount()).toBe(CREATES);
  expect(new Set(ids).size).toBe(CREATES);
  const ended = await waitUntil(
    () => findRuns("reset number"),
    (all) => all.every(({ status }) => status === "completed"),
  );
  expect(ended.map(({ run_id }) => run_id).sort()).toEqual(ids.sort());
  const jobs = (await listJobs()).filter(({ reference }) => ids.includes(reference.split(".")[0]!));
  expect(jobs).toHaveLength(CREATES);
});

it("[CLI-8] runs watch prints every event once, although the server restarts", async () => {
  const { start, client, restartServer } = environment;
  const { run_id } = await client.images.generate({ prompt: "long [sandbox:delay=6]", width: 64, height: 64 });
  const watch = start(["runs", "watch", run_id, "--json"]);
  await waitUntil(watch.stdout, (text) => text.includes("run.processing"));
  await restartServer();
  const { code, stdout } = await watch.closed;
  expect(code).toBe(0);
  const printed = stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as { id: string; type: string });
  const all: { id: string; type: string }[] = [];
  for await (const { id, type } of client.runs.events(run_id)) all.push({ id, type });
  expect(printed.map(({ id, type }) => ({ id, type }))).toEqual(all);
  expect(new Set(printed.map(({ id }) => id)).size).toBe(printed.length);
});
