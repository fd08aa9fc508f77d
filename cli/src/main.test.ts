import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import manifest from "../package.json" with { type: "json" };

const BIN = fileURLToPath(new URL("../bin/gesso.js", import.meta.url));

function gesso(parameters: string[], node = process.execPath) {
  const { status, stdout, stderr } = spawnSync(node, [BIN, ...parameters], { encoding: "utf8" });
  return { status, stdout, stderr };
}

/** A Node.js on this machine that is too old to run the program itself, if there is one. */
const oldNode = (process.env.PATH ?? "")
  .split(delimiter)
  .map((directory) => join(directory, "node"))
  .find((file) => {
    if (!existsSync(file)) return false;
    const major = Number(spawnSync(file, ["-p", "process.versions.node"], { encoding: "utf8" }).stdout.split(".")[0]);
    return major >= 18 && major < 24;
  });

it("prints only its version", () => {
  expect(gesso(["--version"])).toEqual({ status: 0, stdout: `${manifest.version}\n`, stderr: "" });
});

it.runIf(oldNode)("relaunches with the bundled Node.js when the current one is too old", () => {
  expect(gesso(["--version"], oldNode)).toEqual({ status: 0, stdout: `${manifest.version}\n`, stderr: "" });
  expect(gesso(["dve"], oldNode).status).toBe(2);
});

it("lists its commands and suggests the closest one for a typing error", () => {
  expect(gesso(["--help"]).stdout).toContain("dev");
  const { status, stderr } = gesso(["dve"]);
  expect(status).toBe(2);
  expect(stderr).toContain("Did you mean dev?");
  expect(stderr).toContain("gesso --help");
});

it("names the command of an operation that is written as in the client", () => {
  const { status, stderr } = gesso(["images", "generate", "--prompt", "a fox"]);
  expect(status).toBe(2);
  expect(stderr).toContain("Did you mean gesso generate?");
  expect(gesso(["images", "paint"]).stderr).not.toContain("Did you mean");
});

it("creates no key without a database, and says what is missing", () => {
  const { status, stderr } = spawnSync(process.execPath, [BIN, "admin", "create-key", "--data", "/nowhere/.gesso"], {
    env: { PATH: process.env.PATH },
    encoding: "utf8",
  });
  expect(status).toBe(1);
  expect(stderr).toContain("DATABASE_URL is not set, and no gesso dev runs on /nowhere/.gesso.");
});

it("rejects an invalid port", () => {
  const { status, stderr } = gesso(["dev", "--port", "99999"]);
  expect(status).toBe(2);
  expect(stderr).toContain("The port must be an integer from 1 to 65535.");
});
