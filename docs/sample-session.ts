// Runs the samples of one page in one folder: the `bash` blocks in one shell, the `ts` blocks as modules in one process.
import { type ChildProcess, spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Sample } from "./markdown-samples.ts";

const SAMPLE_SECONDS = 60;

const MODULE_RUNNER = `
process.on("message", async (url) => {
  const error = await import(url).then(() => undefined, (thrown) => String(thrown?.stack ?? thrown));
  process.send({ error });
});`;

/** Without assertions, an HTTP error is the only sign that a sample is wrong. */
const STRICT_CURL = 'curl() { command curl --fail "$@"; }';

export type Session = { run(sample: Sample): Promise<void>; end(): void };

export function openSession(directory: string, environment: Record<string, string>): Session {
  const started: ChildProcess[] = [];
  const start = (command: string, parameters: string[]) => {
    const stdio = ["pipe", "pipe", "pipe", command === "bash" ? "pipe" : "ipc"] as const;
    // A process group of its own, so that servers which a sample leaves in the background end with the page.
    const child = spawn(command, parameters, { cwd: directory, env: environment, stdio: [...stdio], detached: true });
    started.push(child);
    return child;
  };
  let shell: ChildProcess | undefined;
  let modules: ChildProcess | undefined;

  const runBash = (sample: Sample) => {
    const file = join(directory, sampleFile(sample));
    const curl = sample.hasAssertions ? "unset -f curl" : STRICT_CURL;
    writeFileSync(file, `${sample.code}\n`);
    shell ??= start("bash", ["-euo", "pipefail"]);
    const child = shell;
    return settle(child, (resolve) => {
      child.stdio[3]?.once("data", () => resolve(undefined));
      child.stdin?.write(`${curl} || true\nsource ${file} </dev/null\necho done >&3\n`);
    });
  };

  const runModule = (sample: Sample) => {
    modules ??= start(process.execPath, ["--input-type=module", "--eval", MODULE_RUNNER]);
    const child = modules;
    return settle(child, (resolve) => {
      child.once("message", ({ error }: { error?: string }) => resolve(error));
      child.send(pathToFileURL(join(directory, sampleFile(sample))).href);
    });
  };

  return {
    run: (sample) => (sample.language === "bash" ? runBash(sample) : runModule(sample)),
    end: () => {
      for (const { pid } of started) if (pid !== undefined) endGroup(pid);
    },
  };
}

export const sampleFile = ({ language, line }: Sample) => `line-${line}.${language === "ts" ? "ts" : "sh"}`;

/** Resolves when the sample has ended well. Rejects with everything that it wrote otherwise. */
function settle(child: ChildProcess, begin: (resolve: (error?: string) => void) => void): Promise<void> {
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
    const timer = setTimeout(() => finish(`no end after ${SAMPLE_SECONDS} s`), SAMPLE_SECONDS * 1000);
    child.stdout?.on("data", collect);
    child.stderr?.on("data", collect);
    if (child.exitCode !== null) return finish("an earlier sample of this page ended the process");
    child.on("exit", exit);
    begin(finish);
  });
}

function endGroup(pid: number): void {
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // The group has ended already.
  }
}
