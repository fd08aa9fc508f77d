// `gesso models` and `gesso run` beside a server that has the fake fal: models that only their schema describes.
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { FakeVendor } from "../../server/test/fake-vendors/fake-vendor.ts";
import { fakeFal } from "../../server/test/fake-vendors/fal.ts";
import { falDocument } from "../../server/test/model-schemas/documents.ts";
import { startTestEnvironment, type TestEnvironment } from "../../server/test/support/test-environment.ts";

const BIN = fileURLToPath(new URL("../bin/gesso.js", import.meta.url));

const text = { type: "string" };
const FILE = { type: "object", required: ["url"], properties: { url: text, content_type: text } };
const publish = (path: string, input: object, output: object) =>
  falDocument(path, input as never, {
    output: output as never,
    definitions: { Video: FILE, Image: { ...FILE, properties: { ...FILE.properties, width: { type: "integer" } } } },
  });
const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` });

const boatFilm = (more = {}) =>
  publish(
    "acme/boat-film",
    {
      required: ["prompt"],
      "x-fal-order-properties": ["prompt", "duration", "generate_audio"],
      properties: {
        prompt: { type: "string", minLength: 1 },
        generate_audio: { type: "boolean", default: true },
        duration: { type: "string", enum: ["4s", "8s"], default: "8s" },
        timeout: { type: "number", minimum: 1, maximum: 60 },
        tags: { type: "array", items: text },
        ...more,
      },
    },
    { required: ["video"], properties: { video: ref("Video") } },
  );

const PUBLISHED = {
  "acme/boat-film": boatFilm(),
  "acme/sketch/edit": publish(
    "acme/sketch/edit",
    {
      required: ["prompt", "image_urls"],
      properties: {
        prompt: text,
        image_urls: { type: "array", items: text },
        num_images: { type: "integer", minimum: 1, maximum: 4, default: 1 },
      },
    },
    { properties: { images: { type: "array", items: ref("Image") } } },
  ),
  "acme/look": publish(
    "acme/look",
    { required: ["image_url"], properties: { image_url: { type: "string", ui: { field: "image" } } } },
    { properties: { answer: text } },
  ),
};

let fal: FakeVendor;
let world: TestEnvironment;
let folder: string;

beforeAll(async () => {
  fal = await fakeFal.start();
  Object.assign(fal.switches.published, PUBLISHED);
  world = await startTestEnvironment({ env: fakeFal.env(fal) });
  // As on a server without the sandbox, which brings models of its own.
  for (const name of ["replay/studio", "replay/clip"]) await remove(`sandbox:${name}`);
  folder = mkdtempSync(join(tmpdir(), "gesso-models-"));
}, 120_000);
afterAll(async () => {
  await world?.stop();
  await fal?.close();
  if (folder) rmSync(folder, { recursive: true, force: true });
}, 60_000);

const remove = (name: string) =>
  fetch(`${world.url}/api/v1/catalogue/models/${encodeURIComponent(name)}`, {
    method: "DELETE",
    headers: { authorization: `Bearer ${world.key}` },
  });

type Ended = { code: number | null; stdout: string; stderr: string };

function start(program: string, parameters: string[]): Promise<Ended> {
  const env = {
    ...{ PATH: process.env.PATH ?? "", HOME: folder, TERM: "xterm-256color", NO_COLOR: "1" },
    ...{ GESSO_URL: world.url, GESSO_API_KEY: world.key },
    ...(process.env.NODE_COMPILE_CACHE && { NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE }),
  };
  const child = spawn(program, parameters, { cwd: folder, env });
  let [stdout, stderr] = ["", ""];
  child.stdout.on("data", (chunk) => (stdout += chunk));
  child.stderr.on("data", (chunk) => (stderr += chunk));
  child.stdin.end();
  return new Promise((resolve) => child.on("close", (code) => resolve({ code, stdout, stderr })));
}

const gesso = (...parameters: string[]) => start(process.execPath, [BIN, ...parameters]);
/** In a terminal of 80 columns. */
const terminal = (commandLine: string) =>
  start("script", ["-qefc", `stty cols 80; "${process.execPath}" "${BIN}" ${commandLine}`, "/dev/null"]);
const lastRequest = () => fal.ledger.at(-1)!.request as Record<string, unknown>;

describe("gesso models", () => {
  it("says how to add the first model, adds it and shows what it takes", async () => {
    expect((await terminal("models search")).stdout).toContain("gesso models add fal:fal-ai/veo3.1/fast");
    const added = await terminal("models add fal:acme/boat-film --alias boat --price 1.2");
    expect([added.code, added.stdout]).toEqual([0, expect.stringContaining("$1.20 per run")]);
    const lines = added.stdout.split(/\r?\n/);
    expect(lines.filter((line) => line.length > 80)).toEqual([]);
    expect(lines.findIndex((line) => /^ {2}prompt \* +text$/.test(line))).toBeGreaterThan(0);
    expect(added.stdout).toMatch(/duration +4s, 8s \(default 8s\)/);
    expect(added.stdout).toMatch(/\/video\/url +video/);
    expect(added.stdout).toContain("gesso run boat --prompt '…'");
    const shown = JSON.parse((await gesso("models", "show", "boat", "--json")).stdout);
    expect(shown).toMatchObject({ name: "boat", model: "fal:acme/boat-film", price: 1.2 });
    for (const name of ["fal:acme/sketch/edit", "fal:acme/look"])
      expect((await gesso("models", "add", name)).code).toBe(0);
    const found = JSON.parse((await gesso("models", "search", "--media", "image")).stdout);
    expect(found.data).toMatchObject([{ name: "fal:acme/sketch/edit" }]);
  });

  it("limits a model to tenants, shows them, and opens it again", async () => {
    const me = await fetch(`${world.url}/api/v1/me`, { headers: { authorization: `Bearer ${world.key}` } });
    const tenant = ((await me.json()) as { tenant: { id: string } }).tenant.id;
    const limited = await terminal(`models add fal:acme/look --tenant ${tenant}`);
    expect([limited.code, limited.stdout]).toEqual([0, expect.stringContaining(`Tenants   ${tenant}`)]);
    expect((await gesso("models", "add", "fal:acme/look", "--tenant", tenant, "--all-tenants")).code).toBe(2);
    const odd = await gesso("models", "add", "fal:acme/look", "--tenant", "acme");
    expect([odd.code, odd.stderr]).toEqual([2, "gesso models add: --tenant: Must be a UUID.\n"]);
    const opened = JSON.parse((await gesso("models", "add", "fal:acme/look", "--all-tenants", "--json")).stdout);
    expect(opened.tenant_ids).toBeNull();
  });

  it("says plainly why a model is refused", async () => {
    const unknown = await gesso("models", "add", "fal:acme/none");
    expect([unknown.code, unknown.stderr]).toEqual([2, "gesso models add: fal has no model acme/none.\n"]);
    writeFileSync(join(folder, "odd.json"), '{"paths":{}}');
    const odd = await gesso("models", "add", "fal:acme/odd", "--document", "odd.json");
    expect([odd.code, odd.stderr]).toEqual([2, expect.stringContaining("gesso models add: The document has no")]);
    expect((await gesso("models", "show", "boot")).stderr).toContain("Nearest names: boat");
  });
});

describe("gesso run", () => {
  it("has the flags of the model, and saves its files", async () => {
    const help = await gesso("run", "boat", "--help");
    expect([help.code, help.stderr]).toEqual([0, ""]);
    expect(help.stdout).toMatch(/--duration <value> +Default: 8s \(choices: "4s", "8s"\)/);
    expect(help.stdout).toMatch(/--set-timeout <number> +At least 1, at most 60/);
    const given = ["--prompt", "a boat", "--duration", "4s", "--no-generate-audio", "--set-timeout", "5"];
    const made = await gesso("run", "boat", ...given, "--set-tags", "a", "--set-tags", "b", "-o", "out/boat.mp4");
    expect([made.code, made.stderr]).toEqual([0, ""]);
    expect(JSON.parse(made.stdout)).toMatchObject({ model: "fal:acme/boat-film", files: ["out/boat.mp4"] });
    expect(readFileSync(join(folder, "out/boat.mp4")).subarray(4, 8).toString()).toBe("ftyp");
    expect(lastRequest()).toEqual({
      ...{ prompt: "a boat", duration: "4s", generate_audio: false },
      ...{ timeout: 5, tags: ["a", "b"] },
    });
  });

  it("takes fields by -i and from a file, and flags win", async () => {
    writeFileSync(join(folder, "input.json"), '{"prompt":"from the file","duration":"4s"}');
    const given = ["--input", "input.json", "-i", "duration=8s", "--prompt", "a flag"];
    expect((await gesso("run", "fal:acme/boat-film", ...given)).code).toBe(0);
    expect(lastRequest()).toEqual({ prompt: "a flag", duration: "8s" });
    const refused = await gesso("run", "boat", "--input", '{"duration":"9s"}');
    expect(refused.code).toBe(2);
    expect(refused.stderr).toContain("--prompt: This field is required.");
    const late = await gesso("run", "boat", "--prompt", "a boat", "--input", '{"timeout":90,"no_such_field":1}');
    expect(late.stderr).toMatch(/^ {2}--set-timeout: /m);
    expect(late.stderr).toMatch(/^ {2}-i no_such_field: /m);
    expect((await gesso("run", "boat", "--prompt", "a", "--max-cost", "1")).code).toBe(5);
    expect((await gesso("run", "boat", "--fps", "9")).stderr).toContain("unknown option '--fps'");
  });

  it("sends local files and runs, and prints a result that has no files", async () => {
    const drawn = await gesso("generate", "a boat", "--width", "64", "--height", "64", "-o", "boat.png", "-q");
    const edit = ["--prompt", "night", "--image-urls", "boat.png", "--image-urls", drawn.stdout.trim()];
    const edited = await gesso("run", "fal:acme/sketch/edit", ...edit, "--num-images", "2", "-o", "edited-%n");
    expect(JSON.parse(edited.stdout).files).toEqual(["edited-1.png", "edited-2.png"]);
    expect(existsSync(join(folder, "edited-2.png"))).toBe(true);
    const [first, second] = lastRequest().image_urls as string[];
    expect([first?.slice(0, 22), second?.slice(0, 22)]).toEqual(["data:image/png;base64,", "data:image/png;base64,"]);
    const looked = await terminal("run fal:acme/look --image-url boat.png");
    expect([looked.code, looked.stdout]).toEqual([0, expect.stringContaining('"answer": "the answer"')]);
    expect((await gesso("run", "fal:acme/look", "--image-url", "none.png")).stderr).toContain(
      "There is no file none.png",
    );
  });
});

describe("gesso models sync", () => {
  it("reads the documents again, keeps names and prices, and tells what has changed or failed", async () => {
    fal.switches.published["acme/boat-film"] = boatFilm({ fps: { type: "integer" } });
    fal.switches.published["acme/look"] = { paths: {} };
    const { code, stdout } = await terminal("models sync");
    expect(code).toBe(1);
    expect(stdout).toMatch(/fal:acme\/boat-film +changed: schema \w+ → \w+/);
    expect(stdout).toMatch(/fal:acme\/look +failed: The document has no operation/);
    expect(stdout).toMatch(/fal:acme\/sketch\/edit +unchanged/);
    for (const name of ["boat", "fal:acme/boat-film"]) {
      const { price, order } = JSON.parse((await gesso("models", "show", name)).stdout);
      expect([name, price, order.includes("fps")]).toEqual([name, 1.2, true]);
    }
    expect((await gesso("run", "boat", "--prompt", "a", "--fps", "9", "--estimate")).code).toBe(0);
  });

  it("removes a name", async () => {
    expect((await gesso("models", "remove", "boat")).code).toBe(0);
    const gone = await gesso("run", "boat", "--prompt", "a");
    expect([gone.code, gone.stderr]).toEqual([2, expect.stringContaining("There is no imported model of this name.")]);
    expect((await gesso("models", "show", "fal:acme/boat-film")).code).toBe(0);
  });
});
