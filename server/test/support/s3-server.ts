// A real S3 server for tests: one Ceph monitor, one OSD in memory and one radosgw, all on loopback and all children of
// this process. It ends only what it started, and reports what is missing if Ceph is not installed.
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, open, rm, writeFile } from "node:fs/promises";
import { delimiter, join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { freePort } from "@gesso/dev/components";

export type S3Server = { endpoint: string; accessKeyId: string; secretAccessKey: string };

export const S3_TEST_CREDENTIALS = { accessKeyId: "TESTKEY", secretAccessKey: "TESTSECRET" };

const programs = ["monmaptool", "ceph", "ceph-mon", "ceph-osd", "radosgw", "radosgw-admin"];
const run = promisify(execFile);

/**
 * Starts the server in `dir`, which is emptied first, and resolves when it responds and has a user. `megabytes`: what
 * it can store, in memory.
 */
export const startS3Server = async (
  dir: string,
  port: number,
  megabytes = 2048,
): Promise<S3Server & { stop(): Promise<void> }> => {
  assertCephInstalled();
  const home = resolve(dir);
  const daemons: ChildProcess[] = [];
  const stop = async () => {
    for (const daemon of daemons.splice(0).reverse()) await end(daemon);
    await rm(home, { recursive: true, force: true });
  };
  try {
    await startDaemons(home, { port, megabytes }, daemons);
  } catch (cause) {
    await stop();
    throw cause;
  }
  return { endpoint: `http://127.0.0.1:${port}`, ...S3_TEST_CREDENTIALS, stop };
};

const assertCephInstalled = () => {
  const folders = (process.env.PATH ?? "").split(delimiter);
  const missing = programs.filter((program) => !folders.some((folder) => existsSync(join(folder, program))));
  if (missing.length > 0) {
    const cure = "apt-get install -y --no-install-recommends ceph-mon ceph-osd radosgw ceph-common";
    throw new Error(`The storage tests need a real S3 server, but ${missing.join(", ")} cannot be found. Run: ${cure}`);
  }
};

const startDaemons = async (
  home: string,
  { port, megabytes }: Pick<Cluster, "port" | "megabytes">,
  daemons: ChildProcess[],
) => {
  await rm(home, { recursive: true, force: true });
  for (const folder of ["mon", "osd", "rgw", "run", "log"]) await mkdir(join(home, folder), { recursive: true });
  const cluster = randomUUID();
  const monitor = `[v2:127.0.0.1:${await freePort()}]`;
  const conf = join(home, "ceph.conf");
  await writeFile(conf, configuration({ home, port, megabytes, cluster, monitor }));
  const once = (program: string, ...more: string[]) => run(program, ["-c", conf, ...more], { timeout: 60_000 });
  // In the foreground each daemon stays a child of this process, so stopping it needs no pid file that could be stale.
  const start = async (program: string, ...more: string[]) => {
    const log = await open(join(home, "log", `${program}.out`), "a");
    daemons.push(spawn(program, ["-c", conf, "-f", ...more], { stdio: ["ignore", log.fd, log.fd] }));
    await log.close();
  };

  await run("monmaptool", ["--create", "--fsid", cluster, "--addv", "a", monitor, join(home, "monmap")]);
  await once("ceph-mon", "--mkfs", "-i", "a", "--monmap", join(home, "monmap"), "--keyring", "/dev/null");
  await start("ceph-mon", "-i", "a");
  const disk = randomUUID();
  await once("ceph", "osd", "new", disk);
  await once("ceph-osd", "-i", "0", "--mkfs", "--osd-uuid", disk);
  await start("ceph-osd", "-i", "0");
  await start("radosgw", "-n", "client.rgw");
  await untilAnswers(`http://127.0.0.1:${port}/`, daemons, home);
  const user = ["--uid=test", "--display-name=test", `--access-key=${S3_TEST_CREDENTIALS.accessKeyId}`];
  await once(
    "radosgw-admin",
    "-n",
    "client.rgw",
    "user",
    "create",
    ...user,
    `--secret=${S3_TEST_CREDENTIALS.secretAccessKey}`,
  );
};

const untilAnswers = async (url: string, daemons: ChildProcess[], home: string) => {
  const deadline = Date.now() + 90_000;
  while (Date.now() < deadline) {
    const answered = await fetch(url).then(
      () => true,
      () => false,
    );
    if (answered) return;
    if (daemons.some((daemon) => daemon.exitCode !== null)) break;
    await sleep(250);
  }
  throw new Error(`radosgw did not come up; see ${join(home, "log")}`);
};

const end = async (daemon: ChildProcess) => {
  if (daemon.exitCode !== null || daemon.signalCode !== null) return;
  const ended = new Promise((done) => daemon.once("exit", done));
  daemon.kill("SIGTERM");
  // The store lives in memory and dies with the test, so a daemon that lingers over its goodbyes may be cut short.
  await Promise.race([ended, sleep(2_000, undefined, { ref: false })]);
  if (daemon.exitCode === null && daemon.signalCode === null) daemon.kill("SIGKILL");
  await ended;
};

type Cluster = { home: string; port: number; megabytes: number; cluster: string; monitor: string };

// One replica, no authentication between the daemons, and no manager: enough for S3, quick to start. Without `ms mon
// client mode = crc` the gateway looks for a secure monitor for ever.
const configuration = ({ home, port, megabytes, cluster, monitor }: Cluster) => `
[global]
fsid = ${cluster}
mon host = ${monitor}
public addr = 127.0.0.1
cluster addr = 127.0.0.1
ms bind ipv6 = false
ms mon client mode = crc
auth cluster required = none
auth service required = none
auth client required = none
auth allow insecure global id reclaim = true
mon allow pool size one = true
mon data avail crit = 1
mon max pg per osd = 2000
osd pool default size = 1
osd pool default min size = 1
osd pool default pg num = 8
osd crush chooseleaf type = 0
osd class dir = /usr/lib/x86_64-linux-gnu/rados-classes
erasure code dir = /usr/lib/x86_64-linux-gnu/ceph/erasure-code
plugin dir = /usr/lib/x86_64-linux-gnu/ceph
run dir = ${home}/run
admin socket = ${home}/run/$name.asok
log file = ${home}/log/$name.log
[mon.a]
mon data = ${home}/mon
[osd.0]
osd data = ${home}/osd
osd objectstore = memstore
memstore device bytes = ${megabytes * 1024 * 1024}
[client.rgw]
rgw data = ${home}/rgw
rgw frontends = beast endpoint=127.0.0.1:${port}
rgw thread pool size = 32
rgw enable usage log = false
`;
