// The processes of a running Gesso: images are decoded in isolated processes only, secrets are not in any environment
// that other processes can read, and the server refuses to start where it cannot isolate.
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import sharp from "sharp";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type ApiCaller, createHttpCaller } from "../support/api-caller.ts";
import { startTestEnvironment, type TestEnvironment } from "../support/test-environment.ts";

let environment: TestEnvironment;
let caller: ApiCaller;
beforeAll(async () => {
  environment = await startTestEnvironment({ roles: "split" });
  caller = createHttpCaller(environment);
});
afterAll(() => environment?.stop());

const image = async (background: string) => {
  const bytes = await sharp({ create: { width: 64, height: 64, channels: 3, background } })
    .png()
    .toBuffer();
  return `data:image/png;base64,${bytes.toString("base64")}`;
};
const serverPids = () => {
  const { api, worker } = environment.pids();
  return [api!, worker!];
};

it("no process with secrets loads the decoder library, also not for local work and masks", async () => {
  const images = [await image("#ff0000"), await image("#0000ff")];
  const combined = await caller.post("/combine", { images, sync: true });
  expect(combined.body).toMatchObject({ status: "completed" });
  // This model of the sandbox expects an inverted mask.
  const edited = await caller.post("/edits/gemini-2.5", {
    ...{ prompt: "a red door", image_url: images[0], mask_url: images[0], sync: true },
  });
  expect(edited.body).toMatchObject({ status: "completed" });
  for (const pid of serverPids()) expect(readFileSync(`/proc/${pid}/maps`, "utf8")).not.toMatch(/libvips|sharp-linux/);
});

it("no other process of the same user can read a secret from the environment of the server", () => {
  for (const pid of serverPids()) {
    const environ = readFileSync(`/proc/${pid}/environ`, "utf8");
    expect(environ).toContain("PATH=");
    expect(environ).not.toMatch(/GESSO_SECRET|DATABASE_URL|SANDBOX_KEY|GESSO_API_KEY/);
    expect(environ).not.toContain(environment.key);
    expect(environ).not.toContain(environment.databaseUrl);
  }
});

/** Starts the server where the programs that isolate are missing: a mount namespace hides them. */
async function startWithoutIsolation(env: Record<string, string>): Promise<{ code: number | null; output: string }> {
  const main = fileURLToPath(new URL("../../src/main.ts", import.meta.url));
  const hide = ["perl", "setpriv", "unshare"]
    .map((name) => `mount --bind /bin/false $(command -v ${name})`)
    .join(" && ");
  const child = spawn("unshare", ["--mount", "sh", "-c", `${hide} && exec "$0" "$@"`, process.execPath, main], {
    env: {
      ...{ PATH: process.env.PATH ?? "", DATABASE_URL: "postgres://127.0.0.1:1/none" },
      ...{ GESSO_SECRET: "a-secret-of-at-least-thirty-two-characters", STORAGE_DIR: "/tmp", ...env },
    },
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => (output += chunk));
  const code = await new Promise<number | null>((resolve) => child.once("close", resolve));
  return { code, output };
}

it("refuses to start if it cannot isolate decoders, and names the reason and the setting", async () => {
  const { code, output } = await startWithoutIsolation({});
  expect(code).toBe(1);
  expect(output).toContain("can read the memory and environment of the server, has network access");
  expect(output).toContain("ALLOW_WEAK_ISOLATION=true");
});

it("starts with weak isolation if ALLOW_WEAK_ISOLATION is true, and logs a warning", async () => {
  const { output } = await startWithoutIsolation({ ALLOW_WEAK_ISOLATION: "true" });
  expect(output).toContain("decoder sandbox is incomplete");
  // It gets as far as its database, which does not exist here.
  expect(output).toContain("ECONNREFUSED");
});
