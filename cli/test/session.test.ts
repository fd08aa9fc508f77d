// Sign-in, settings, completion and start-up of the command line, beside a real `gesso dev`.
import { spawn, spawnSync } from "node:child_process";
import { existsSync, globSync, mkdtempSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import manifest from "../package.json" with { type: "json" };
import { type CliEnvironment, startCliEnvironment, waitUntil } from "./support/cli-environment.ts";

const BIN = fileURLToPath(new URL("../bin/gesso.js", import.meta.url));
const ESCAPE = "\u001b";
let cli: CliEnvironment;

beforeAll(async () => {
  cli = await startCliEnvironment();
});
afterAll(() => cli?.stop());

/** A place for credentials of its own, and no URL or key in the environment. */
function separateHome() {
  const config = mkdtempSync(join(cli.folder, "config-"));
  const env = { XDG_CONFIG_HOME: config, GESSO_API_KEY: "", GESSO_URL: "" };
  return { env, path: join(config, "gesso", "credentials.json") };
}
const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8);
const signIn = (env: Record<string, string>, ...parameters: string[]) =>
  cli.run(["login", "--url", cli.gesso.url, ...parameters], { env, input: `${cli.gesso.key}\n` });
const whoami = async (env: Record<string, string>, ...parameters: string[]) => {
  const { code, stdout, stderr } = await cli.run(["whoami", "--json", ...parameters], { env });
  return code === 0 ? JSON.parse(stdout) : { code, stderr };
};

describe("credentials", () => {
  it("[CLI-13] saves a key from standard input for its owner alone, uses it, and forgets it at logout", async () => {
    const { env, path } = separateHome();
    const login = await signIn(env);
    expect(login).toMatchObject({ code: 0, stdout: "", stderr: expect.stringContaining(cli.gesso.url) });
    expect([modeOf(path), modeOf(join(path, ".."))]).toEqual(["600", "700"]);
    expect(globSync("*", { cwd: join(path, "..") })).toEqual(["credentials.json"]);
    expect(await whoami(env)).toMatchObject({ url: cli.gesso.url, source: "profile default", role: "owner" });

    const logout = await cli.run(["logout"], { env });
    expect(logout).toMatchObject({ code: 0, stderr: expect.stringContaining("Removed profile default.") });
    expect(existsSync(path)).toBe(false);
    const refused = await whoami(env);
    expect(refused).toMatchObject({ code: 3, stderr: expect.stringContaining("Run gesso login") });
    for (const text of [login.stderr, logout.stderr, refused.stderr]) expect(text).not.toContain(cli.gesso.key);
    // Nothing to remove is an error that scripts can see.
    expect((await cli.run(["logout"], { env })).code).toBe(4);
  });

  it("[CLI-13] does not show a key that is typed in a terminal", async () => {
    const { env, path } = separateHome();
    const child = spawn("script", ["-qefc", `gesso login --url ${cli.gesso.url}`, "/dev/null"], {
      cwd: cli.folder,
      env: { PATH: `${cli.folder}:${process.env.PATH}`, HOME: cli.folder, TERM: "xterm-256color", ...env },
    });
    let screen = "";
    child.stdout.on("data", (chunk) => (screen += chunk));
    const ended = new Promise<number | null>((resolve) => child.once("close", resolve));
    await waitUntil(
      () => screen,
      (text) => text.includes("(not shown): "),
    );
    child.stdin.write(`${cli.gesso.key.slice(0, 20)}x\u007f${cli.gesso.key.slice(20)}\r`);
    expect(await ended).toBe(0);
    expect(screen).toContain("Signed in to");
    expect(screen).not.toContain("gsk_");
    expect(readFileSync(path, "utf8")).toContain(cli.gesso.key);
  });

  it("[CLI-13] saves nothing if the server refuses the key", async () => {
    const { env, path } = separateHome();
    const refused = await cli.run(["login", "--url", cli.gesso.url], { env, input: "gsk_wrong\n" });
    expect(refused.code).toBe(3);
    expect(refused.stderr).not.toContain("gsk_wrong");
    expect(existsSync(path)).toBe(false);
  });

  it("[CLI-13] warns about a key on the command line, which no list of processes and no log shows", async () => {
    const { env } = separateHome();
    const parameters = ["runs", "watch", "--url", cli.gesso.url, "--key", cli.gesso.key];
    const watching = cli.start(parameters, { env });
    try {
      await waitUntil(watching.stderr, (text) => text.includes("other users of this machine can see a key"));
      const { stdout } = spawnSync("ps", ["-eww", "-o", "pid=,args="], { encoding: "utf8" });
      const own = stdout.split("\n").filter((line) => line.trim().startsWith(`${watching.child.pid} `));
      expect(own).toEqual([expect.stringMatching(/^\s*\d+ gesso\s*$/)]);
      expect(stdout).not.toContain(cli.gesso.key);
      expect(readFileSync(`/proc/${watching.child.pid}/cmdline`, "utf8")).not.toContain(cli.gesso.key);
    } finally {
      watching.child.kill("SIGKILL");
      await watching.closed;
    }
    const logs = globSync("data/**/*.log", { cwd: cli.folder }).map((path) => join(cli.folder, path));
    expect(logs.length).toBeGreaterThan(0);
    for (const path of logs) expect(readFileSync(path, "utf8").includes(cli.gesso.key)).toBe(false);
  });

  it("refuses a credentials file that other users can read, and one that is none", async () => {
    const { env, path } = separateHome();
    await signIn(env);
    spawnSync("chmod", ["644", path]);
    expect(await whoami(env)).toMatchObject({ code: 3, stderr: expect.stringContaining("chmod 600") });
    spawnSync("chmod", ["600", path]);
    writeFileSync(path, "{");
    expect(await whoami(env)).toMatchObject({ code: 3, stderr: expect.stringContaining("not a credentials file") });
  });

  it("selects profiles, and sends a saved key to its own server only", async () => {
    const { env } = separateHome();
    await signIn(env);
    await signIn(env, "--profile", "staging");
    expect(await whoami(env, "--profile", "staging")).toMatchObject({ source: "profile staging" });
    expect(await whoami({ ...env, GESSO_PROFILE: "staging" })).toMatchObject({ source: "profile staging" });
    expect(await whoami({ ...env, GESSO_API_KEY: cli.gesso.key })).toMatchObject({
      ...{ url: cli.gesso.url, source: "environment variable GESSO_API_KEY" },
    });
    expect(await whoami(env, "--profile", "nowhere")).toMatchObject({ code: 3 });
    expect(await whoami(env, "--url", "http://127.0.0.1:9")).toMatchObject({
      code: 3,
      stderr: expect.stringContaining("No API key for http://127.0.0.1:9"),
    });
    await cli.run(["logout", "--all"], { env });
    expect(await whoami(env, "--data", join(cli.folder, "data"))).toMatchObject({
      source: expect.stringContaining("gesso dev in"),
    });
  });
});

describe("gesso config print", () => {
  it("prints the settings of the running gesso dev with their sources, without its secrets", async () => {
    const data = join(cli.folder, "data");
    const { code, stdout } = await cli.run(["config", "print", "--sources", "--data", data], { env: { PORT: "9" } });
    expect(code).toBe(0);
    expect(stdout).toMatch(/^DATABASE_URL +gesso dev +postgres:\/\/gesso:\[redacted\]@/m);
    expect(stdout).toMatch(/^SHED_MS +default +1000$/m);
    expect(stdout).toMatch(/^models\.flux-dev\.0\.price +\/.*prices\.yaml +0\.02$/m);
    const { secret, sandboxKey } = JSON.parse(readFileSync(join(data, "state.json"), "utf8"));
    for (const each of [secret, sandboxKey, cli.gesso.key]) expect(stdout).not.toContain(each);
  });
});

/**
 * CPU time of a command as a multiple of that of Node.js alone. Other programs on the machine take time from both, so
 * they run in turns, and the least of each counts.
 */
function measureCpu(parameters: string[], env: Record<string, string>): number {
  const cpuSeconds = (line: string[]) => {
    const words = [process.execPath, ...line].map((word) => `'${word}'`).join(" ");
    const script = `TIMEFORMAT='%U %S'; time ${words} >/dev/null`;
    const { status, stderr } = spawnSync("bash", ["-c", script], { env, encoding: "utf8" });
    expect([status, stderr]).toEqual([0, expect.stringMatching(/^[\d.]+ [\d.]+\n$/)]);
    return stderr.split(" ").reduce((sum, part) => sum + Number(part), 0);
  };
  const pairs = Array.from({ length: 8 }, () => [cpuSeconds(["-e", "0"]), cpuSeconds([BIN, ...parameters])] as const);
  return Math.min(...pairs.map(([, own]) => own)) / Math.min(...pairs.map(([bare]) => bare));
}
const connection = () => ({ GESSO_URL: cli.gesso.url, GESSO_API_KEY: cli.gesso.key });
const environment = () => ({
  ...{ PATH: `${cli.folder}:${process.env.PATH}`, HOME: cli.folder, TERM: "xterm" },
  ...{ ...connection(), NODE_COMPILE_CACHE: join(cli.folder, "compiled") },
});

describe("completion", () => {
  let runId = "";
  beforeAll(async () => {
    runId = (await cli.client.images.generate({ prompt: "a harbour" })).run_id;
  });
  const runShell = (program: string, parameters: string[], script: string) => {
    const path = join(cli.folder, `completion.${program}`);
    writeFileSync(path, script);
    const { stdout, stderr } = spawnSync(program, [...parameters, path], {
      ...{ cwd: cli.folder, env: environment(), encoding: "utf8" },
    });
    return `${stdout}${stderr}`;
  };

  it("[CLI-14] completes commands, models, run IDs and files in bash", () => {
    const output = runShell(
      "bash",
      ["--norc"],
      `source <(gesso completion bash)
       compopt() { :; }
       try() { COMP_LINE=$1 COMP_POINT=\${#1}; _gesso; printf '%s: %s\\n' "$1" "\${COMPREPLY[*]}"; }
       try "gesso gen"; try "gesso generate x -m flux-kontext-mu"; try "gesso generate x --model=flux-d"
       try "gesso runs get "; try "gesso reference x --aspect-ratio 16:"; try "gesso edit ./prices"; try "gesso nothing "
       complete -p gesso`,
    );
    expect(output.split("\n")).toEqual([
      ...["gesso gen: generate", "gesso generate x -m flux-kontext-mu: flux-kontext-multi"],
      ...["gesso generate x --model=flux-d: flux-dev", `gesso runs get : ${runId}`],
      // Bash itself keeps what is before a colon.
      ...["gesso reference x --aspect-ratio 16:: 9", "gesso edit ./prices: ./prices.yaml", "gesso nothing : "],
      ...["complete -F _gesso gesso", ""],
    ]);
  });

  it("[CLI-14] completes in zsh as it is typed", () => {
    const output = runShell(
      "zsh",
      ["-f"],
      `zmodload zsh/zpty
       zpty shell zsh -f -i
       zpty -w shell "PROMPT=; autoload -U compinit; compinit -u -D; source <(gesso completion zsh); echo REA''DY"
       zpty -r shell out '*READY*'
       for line in "gesso gene" "gesso generate x -m flux-kontext-mu" "gesso runs get "; do
         # The key after the completion is read when the completion is done.
         zpty -n -w shell "$line"$'\\t'$'\\x01'"echo DO''NE: "$'\\n'
         zpty -r shell out '*DONE: *'$'\\n'
         print -r -- "$out"
       done
       zpty -d shell`,
    );
    expect(output).toContain("DONE: gesso generate");
    expect(output).toContain("DONE: gesso generate x -m flux-kontext-multi");
    expect(output).toContain(`DONE: gesso runs get ${runId}`);
  });

  it("[CLI-14] completes in fish, with descriptions", () => {
    const output = runShell(
      "fish",
      ["--no-config"],
      `gesso completion fish | source
       for line in "gesso gen" "gesso generate x --model=flux-kontext-mu" "gesso runs get " "gesso edit ./prices"
         complete -C $line
       end`,
    );
    expect(output.split("\n").map((line) => line.trimEnd())).toEqual([
      ...["generate\tGenerate images from a prompt", "--model=flux-kontext-multi"],
      expect.stringMatching(new RegExp(`^${runId}\t\\w+ image-generation a harbour$`)),
      ...["./prices.yaml", ""],
    ]);
  });

  it("[CLI-14] prints a script for PowerShell, whose empty word is an option", async () => {
    const { stdout } = await cli.run(["completion", "powershell"]);
    expect(stdout).toContain("Register-ArgumentCompleter -Native -CommandName gesso");
    const { stdout: runs } = await cli.run(["__complete", "--new-word", "--", "runs", "get"]);
    expect(runs).toContain(runId);
  });

  it("[CLI-14] needs at most 5 times the CPU time of Node.js alone, also with run IDs of the server", () => {
    expect(measureCpu(["__complete", "--", "gen"], environment())).toBeLessThan(5);
    expect(measureCpu(["__complete", "--", "runs", "get", ""], environment())).toBeLessThan(5);
  });

  it("completes names of profiles, and nothing if the server does not respond", async () => {
    const { env } = separateHome();
    await signIn(env, "--profile", "staging");
    expect((await cli.run(["__complete", "--", "whoami", "--profile", "s"], { env })).stdout).toBe("staging\n");
    const unreachable = { env: { GESSO_URL: "http://127.0.0.1:9" } };
    expect(await cli.run(["__complete", "--", "runs", "get", ""], unreachable)).toMatchObject({
      ...{ code: 0, stdout: "", stderr: "" },
    });
  });
});

describe("start-up and agents", () => {
  it("[CLI-15] prints its version in at most twice the CPU time of Node.js alone, without compiled code", () => {
    const { NODE_COMPILE_CACHE: _, ...cold } = environment();
    const version = spawnSync(process.execPath, [BIN, "--version"], { env: cold, encoding: "utf8" });
    expect(version.stdout).toBe(`${manifest.version}\n`);
    expect(measureCpu(["--version"], cold)).toBeLessThan(2);
  });

  it("[CLI-15] prints 20 runs as JSON of at most 4 kB under an agent, in a terminal too", async () => {
    const prompt = "a very long prompt about a lighthouse on a cliff above the sea in a storm at night";
    await Promise.all(Array.from({ length: 20 }, () => cli.client.images.generate({ prompt })));
    const { code, stdout } = await cli.terminal("gesso runs list", { CLAUDECODE: "1" });
    expect(code).toBe(0);
    expect(JSON.parse(stdout).data).toHaveLength(20);
    expect(Buffer.byteLength(stdout)).toBeLessThanOrEqual(4096);
    expect(stdout).not.toContain(ESCAPE);
  });

  it("[CLI-15] asks an agent no question", async () => {
    const { env } = separateHome();
    const { code, stdout } = await cli.terminal(`gesso login --url ${cli.gesso.url}`, { ...env, CLAUDECODE: "1" });
    expect(code).toBe(2);
    expect(stdout).toContain("Pass the API key on standard input");
    expect(stdout).not.toContain("(not shown)");
  });
});
