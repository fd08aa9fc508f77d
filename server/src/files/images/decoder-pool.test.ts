import { createServer } from "node:net";
import { getPriority } from "node:os";
import { fileURLToPath } from "node:url";
import sharp from "sharp";
import { afterAll, describe, expect, test } from "vitest";
import { createManualClock } from "../../../test/support/manual-clock.ts";
import { until } from "../../../test/support/until.ts";
import { createDecoderPool, type DecoderPoolOptions } from "./decoder-pool.ts";
import { decoderSandboxProfiles, describeIsolationProblem } from "./decoder-sandbox.ts";
import { createImageDecoder } from "./image-decoder.ts";

const STUB = fileURLToPath(new URL("../../../test/stubs/decoder-worker-stub.ts", import.meta.url));
const opened: { close(): void }[] = [];
const open = (options: Partial<DecoderPoolOptions> = {}) => {
  const decoders = createDecoderPool({ count: 1, megabytes: 1024, seconds: 20, ...options });
  opened.push(decoders);
  return decoders;
};
const openStub = (options: Partial<DecoderPoolOptions> & { stub?: object } = {}) =>
  open({ profiles: decoderSandboxProfiles({ megabytes: 256, program: STUB, ...options.stub }), ...options });
afterAll(() => {
  for (const decoders of opened) decoders.close();
});

const ask = (header: Record<string, unknown>, bytes = new Uint8Array()) => ({ header, bytes });
const picture = await sharp({ create: { width: 64, height: 48, channels: 3, background: "teal" } })
  .png()
  .toBuffer();

describe("a compromised decoder", () => {
  const stub = openStub({ seconds: 5 });

  test("reaches no host, not even this one, if the host supports network namespaces", async () => {
    const connections: unknown[] = [];
    const server = createServer((socket) => connections.push(socket));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as { port: number };
    expect((await open().sandboxStatus())?.hasNetwork).toBe(false);
    const { header } = await stub.perform(ask({ work: "call", port }));
    expect(header.outcome).toMatch(/^E/);
    expect(connections).toEqual([]);
    server.close();
  });

  test("finds no secrets in its environment, and runs as an unprivileged user", async () => {
    const { header } = await stub.perform(ask({ work: "look" }));
    const { PWD: _, SHLVL: __, OLDPWD: ___, ...env } = header.env as Record<string, string>;
    expect(Object.keys(env).filter((name) => name !== "_")).toEqual(["PATH"]);
    expect(header.cwd).toBe("/");
    expect(header.uid).not.toBe(0);
  });

  test("is limited in memory", async () => {
    expect((await stub.perform(ask({ work: "eat", bytes: 64 * 2 ** 20 }))).header.eaten).toBe(64 * 2 ** 20);
    await expect(stub.perform(ask({ work: "eat", bytes: 2 ** 30 }))).rejects.toMatchObject({
      code: "image_undecodable",
    });
  });

  test("that dies fails only its image: the next one is decoded by another process", async () => {
    await expect(stub.perform(ask({ work: "die" }))).rejects.toMatchObject({ code: "image_undecodable" });
    expect((await stub.perform(ask({ work: "pid" }))).header.pid).toBeGreaterThan(0);
  });

  test("that hangs is killed after its time limit", async () => {
    const clock = createManualClock();
    const impatient = openStub({ seconds: 1, clock });
    const { pid } = (await impatient.perform(ask({ work: "pid" }))).header;
    const refusal = { code: "image_undecodable", details: { reason: "took too long" } };
    const hanging = impatient.perform(ask({ work: "hang" }));
    hanging.catch(() => {});
    await clock.waitForTimer(1000);
    await clock.advance(999);
    expect(isAlive(pid as number)).toBe(true);
    await clock.advance(1);
    await expect(hanging).rejects.toMatchObject(refusal);
    await until(() => !isAlive(pid as number));
  });

  test("that responds with anything but a frame is ignored", async () => {
    await expect(stub.perform(ask({ work: "babble" }))).rejects.toMatchObject({ code: "image_undecodable" });
  });

  test("that returns another image than requested is refused", async () => {
    const gate = createImageDecoder(openStub());
    const turned = await sharp(picture).withMetadata({ orientation: 6 }).png().toBuffer();
    await expect(gate.normalize(turned)).rejects.toMatchObject({ code: "image_undecodable" });
  });
});

describe("a compromised decoder under the user of the server, as in a container that allows nothing else", () => {
  const inProfile = (name: string) => {
    const profiles = decoderSandboxProfiles({ megabytes: 256, program: STUB, isRoot: false });
    return open({ profiles: profiles.filter((profile) => profile.name === name) });
  };
  const filtered = inProfile("filtered");
  const outcome = async (header: Record<string, unknown>, decoders = filtered) =>
    (await decoders.perform(ask(header))).header.outcome;

  test("cannot read the environment or the memory of the server", async () => {
    for (const name of ["environ", "mem"]) {
      const path = `/proc/${process.pid}/${name}`;
      expect(await outcome({ work: "read", path })).toBe("EACCES");
    }
    // Without the filter it can: this is what the start of the server is refused for.
    const path = `/proc/${process.pid}/environ`;
    expect(await outcome({ work: "read", path }, inProfile("unprivileged"))).toBe("done");
  });

  test("cannot read or write other files", async () => {
    for (const path of ["/etc/passwd", fileURLToPath(new URL("../../../../package-lock.json", import.meta.url))]) {
      expect(await outcome({ work: "read", path })).toBe("EACCES");
    }
    expect(await outcome({ work: "write", path: "/tmp/gesso-escaped" })).toBe("EACCES");
  });

  test("cannot open a connection, start a program or signal the server", async () => {
    expect(await outcome({ work: "call", port: 9 })).toBe("EPERM");
    expect(await outcome({ work: "run" })).toMatch(/^E(PERM|ACCES|NOSYS)$/);
    expect(await outcome({ work: "signal", pid: process.pid })).toBe("EPERM");
  });
});

const isAlive = (pid: number) => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

test("a process that has decoded its share is replaced once, without delaying the next images", async () => {
  const decoders = openStub({ imagesPerProcess: 3 });
  const pidOf = async () => (await decoders.perform(ask({ work: "pid" }))).header.pid as number;
  const first = [await pidOf(), await pidOf(), await pidOf(), await pidOf(), await pidOf(), await pidOf()];
  expect(new Set(first).size).toBe(1);
  await until(() => !isAlive(first[0]!));
  expect(await pidOf()).not.toBe(first[0]);
  expect(decoders.pids()).toHaveLength(1);
});

test("an image takes the process that is free first, and does not wait for one that starts", async () => {
  const decoders = openStub({ count: 2 });
  const pidOf = async () => (await decoders.perform(ask({ work: "pid" }))).header.pid as number;
  const first = await pidOf();
  expect(await Promise.all([pidOf(), pidOf(), pidOf(), pidOf()])).toEqual([first, first, first, first]);
  await until(() => decoders.pids().length === 2);
});

test("a process that dies while its successor starts leaves one process", async () => {
  const decoders = openStub({ imagesPerProcess: 1 });
  const pidOf = async () => (await decoders.perform(ask({ work: "pid" }))).header.pid as number;
  process.kill(await pidOf(), "SIGKILL");
  await pidOf();
  await until(() => decoders.pids().filter(isAlive).length === 1);
});

test("a process that was killed for another reason than the image is replaced, and the request succeeds", async () => {
  const decoders = open();
  const gate = createImageDecoder(decoders);
  await gate.normalize(picture);
  const [pid] = decoders.pids();
  process.kill(pid!, "SIGKILL");
  expect(await gate.normalize(picture)).toMatchObject({ width: 64, height: 48 });
  expect(decoders.pids()).not.toContain(pid);
});

test("an image that needs too much memory is refused, and the next one is not", async () => {
  const gate = createImageDecoder(open({ megabytes: 64 }));
  const create = { width: 8000, height: 6000, channels: 4 as const, background: "#12345678" };
  const large = await sharp({ create }).png({ progressive: true, compressionLevel: 1 }).toBuffer();
  await expect(gate.normalize(large)).rejects.toMatchObject({ code: "image_undecodable" });
  expect(await gate.normalize(picture)).toMatchObject({ width: 64 });
});

test("a weaker sandbox is used if the host allows no stronger one, and a warning is logged", async () => {
  const said: object[] = [];
  const log = {
    info: (fields: object) => said.push({ ...fields, level: "info" }),
    warn: (fields: object) => said.push(fields),
  };
  const missing = { name: "strong", command: "/nonexistent/unshare", arguments: [] };
  const refused = { name: "refused", command: "sh", arguments: ["-c", "exit 1"] };
  const bare = decoderSandboxProfiles({ megabytes: 64 }).at(-1)!;
  const decoders = open({ profiles: [missing, refused, bare], log });
  expect(await createImageDecoder(decoders).normalize(picture)).toMatchObject({ width: 64 });
  expect(describeIsolationProblem(await decoders.sandboxStatus())).toContain("can read the memory and environment");
  expect(said).toEqual([expect.objectContaining({ profile: "unrestricted", hasNetwork: true, memoryBytes: null })]);
});

test("a failure to start decoders is not reported as a damaged image", async () => {
  const gate = createImageDecoder(open({ profiles: [] }));
  await expect(gate.normalize(picture)).rejects.toMatchObject({ code: "dependency_unavailable" });
});

test("the queue is bounded: further requests are refused with a retry delay", async () => {
  const decoders = openStub({ seconds: 1 });
  const large = Buffer.alloc(400 * 2 ** 20);
  const both = [decoders.perform(ask({ work: "hang" }, large)), decoders.perform(ask({ work: "hang" }, large))];
  await expect(decoders.perform(ask({ work: "pid" }, large))).rejects.toMatchObject({ code: "service_overloaded" });
  for (const each of both) await expect(each).rejects.toMatchObject({ code: "image_undecodable" });
  expect((await decoders.perform(ask({ work: "pid" }))).header.pid).toBeGreaterThan(0);
});

test("the number of processes is limited", async () => {
  const decoders = open({ count: 2 });
  const gate = createImageDecoder(decoders);
  const normalizeMany = () => Promise.all(Array.from({ length: 12 }, () => gate.normalize(picture)));
  await normalizeMany();
  await until(() => decoders.pids().length === 2);
  await normalizeMany();
  expect(decoders.pids()).toHaveLength(2);
});

test("decoders run at a lower CPU priority than the server", async () => {
  const decoders = open({ count: 2 });
  const gate = createImageDecoder(decoders);
  await Promise.all(Array.from({ length: 4 }, () => gate.normalize(picture)));
  await until(() => decoders.pids().length === 2);
  expect(decoders.pids().map((pid) => getPriority(pid) - getPriority())).toEqual([10, 10]);
});

test("the decoding library is version 8.18 or newer", async () => {
  const sandbox = await open().sandboxStatus();
  const [major = 0, minor = 0] = sandbox!.libraries.split(".").map(Number);
  expect(major * 1000 + minor).toBeGreaterThanOrEqual(8018);
});

test("no other user is requested if the server is not root", () => {
  const words = decoderSandboxProfiles({ megabytes: 1, isRoot: false }).map(({ name, command, arguments: rest }) => [
    name,
    command,
    ...rest,
  ]);
  expect(words.map(([name, command]) => [name, command])).toEqual([
    ["offline, filtered", "unshare"],
    ["filtered", "setpriv"],
    ["offline", "unshare"],
    ["unprivileged", "setpriv"],
    ["bounded", "sh"],
    ["unrestricted", process.execPath],
  ]);
  expect(words[0]).toContain("--user");
  for (const each of words) expect(each.join(" ")).not.toMatch(/--reuid|--bounding-set/);
});
