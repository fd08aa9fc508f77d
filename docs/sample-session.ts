// Runs the samples of a page in its folder: the `bash` blocks of a page in one shell, the `ts` blocks as modules, the
// `python` blocks as programs of one interpreter.
import { type ChildProcess, spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Sample } from "./markdown-samples.ts";

/** Ends a sample that hangs before the test runner does, so that the samples after it still run. */
const SAMPLE_SECONDS = 300;

/** One process for the modules of all pages, because loading the client takes longer than most samples. */
const MODULE_RUNNER = `
const { env } = process;
process.on("message", async ({ url, directory, environment }) => {
  if (process.cwd() !== directory) {
    process.chdir(directory);
    for (const name of Object.keys(env)) delete env[name];
    Object.assign(env, environment);
  }
  const error = await import(url).then(() => undefined, (thrown) => String(thrown?.stack ?? thrown));
  process.send({ error });
});`;

/** One process for all programs, because importing the client takes longer than most samples. */
const PYTHON_RUNNER = `
import json, os, sys, traceback
for line in sys.stdin:
    asked = json.loads(line)
    os.chdir(asked["directory"])
    os.environ.update(asked["environment"])
    error = None
    try:
        exec(compile(asked["code"], asked["file"], "exec"), {"__name__": "__main__"})
    except BaseException:
        error = traceback.format_exc()
    os.write(3, (json.dumps({"error": error}) + "\\n").encode())
`;

/** Without assertions, an HTTP error is the only sign that a sample is wrong. */
const STRICT_CURL = 'curl() { command curl --fail "$@"; }';

export type SamplePage = { directory: string; environment: Record<string, string> };
export type SampleRunner = { run(page: SamplePage, sample: Sample): Promise<void>; endPage(): void; end(): void };

/** `python` is the interpreter, with the client. */
export function createSampleRunner(python: () => { interpreter: string; folder: string }): SampleRunner {
  let shell: ChildProcess | undefined;
  let modules: ChildProcess | undefined;
  let programs: ChildProcess | undefined;

  const runBash = ({ directory, environment }: SamplePage, sample: Sample) => {
    const file = join(directory, sampleFile(sample));
    const curl = sample.hasAssertions ? "unset -f curl" : STRICT_CURL;
    writeFileSync(file, `${sample.code}\n`);
    shell ??= start("bash", ["-euo", "pipefail"], { cwd: directory, env: environment });
    const child = shell;
    return settle(child, (finish) => {
      child.stdio[3]?.once("data", () => finish());
      child.stdin?.write(`${curl} || true\nsource ${file} </dev/null\necho done >&3\n`);
    });
  };

  const runModule = (page: SamplePage, sample: Sample) => {
    if (!modules || hasEnded(modules)) modules = start(process.execPath, ["--input-type=module", "-e", MODULE_RUNNER]);
    const child = modules;
    return settle(child, (finish) => {
      child.once("message", ({ error }: { error?: string }) => finish(error));
      child.send({ ...page, url: pathToFileURL(join(page.directory, sampleFile(sample))).href });
    });
  };

  const runPython = ({ directory, environment }: SamplePage, sample: Sample) => {
    if (!programs || hasEnded(programs)) {
      const { interpreter, folder } = python();
      programs = start(interpreter, ["-c", PYTHON_RUNNER], { env: { PYTHONPATH: folder } });
    }
    const child = programs;
    return settle(child, (finish) => {
      child.stdio[3]?.once("data", (line: Buffer) => finish(JSON.parse(line.toString()).error ?? undefined));
      const file = join(directory, sampleFile(sample));
      child.stdin?.write(`${JSON.stringify({ code: pythonProgram(sample), file, directory, environment })}\n`);
    });
  };

  const run = (page: SamplePage, sample: Sample) =>
    ({ bash: runBash, ts: runModule, python: runPython })[sample.language](page, sample);

  const endPage = () => {
    if (shell) endGroup(shell);
    shell = undefined;
  };
  return {
    run,
    endPage,
    end: () => {
      endPage();
      for (const each of [modules, programs]) if (each) endGroup(each);
    },
  };
}

export const sampleFile = ({ language, line }: Sample) =>
  `line_${line}.${{ ts: "ts", python: "py", bash: "sh" }[language]}`;

/** A sample may use the client without declaring it. The first line is free, so all others keep their numbers. */
export const pythonProgram = ({ code }: Sample) =>
  `${/^client = /m.test(code) ? "" : "from gesso import Gesso; client = Gesso()"}${code}\n`;

/** Starts a process group, so that servers which a sample leaves in the background end with it. */
function start(command: string, parameters: string[], options: { cwd?: string; env?: Record<string, string> } = {}) {
  const channel = command === process.execPath ? "ipc" : "pipe";
  return spawn(command, parameters, { ...options, stdio: ["pipe", "pipe", "pipe", channel], detached: true });
}

const hasEnded = ({ exitCode, signalCode }: ChildProcess) => exitCode !== null || signalCode !== null;

/** Resolves when the sample has ended well. Rejects with everything that it wrote otherwise. */
function settle(child: ChildProcess, begin: (finish: (error?: string) => void) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    let output = "";
    const collect = (chunk: unknown) => {
      output += chunk;
    };
    const finish = (error?: string) => {
      clearTimeout(timer);
      child.stdout?.off("data", collect);
      child.stderr?.off("data", collect);
      child.off("exit", exit);
      if (error === undefined) resolve();
      else reject(new Error(`${error}\n${output}`));
    };
    // The last output can arrive after the exit, and a background process can keep the pipes open for ever.
    const exit = (code: number | null) => setTimeout(() => finish(`exit code ${code}`), 100);
    const timer = setTimeout(() => {
      // A result that comes later must not count for the next sample.
      endGroup(child);
      finish(`no end after ${SAMPLE_SECONDS} s`);
    }, SAMPLE_SECONDS * 1000);
    child.stdout?.on("data", collect);
    child.stderr?.on("data", collect);
    if (hasEnded(child)) return finish("an earlier sample of this page ended the shell");
    child.on("exit", exit);
    begin(finish);
  });
}

function endGroup({ pid }: ChildProcess): void {
  try {
    if (pid !== undefined) process.kill(-pid, "SIGKILL");
  } catch {
    // The group has ended already.
  }
}
