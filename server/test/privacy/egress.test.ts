// Gesso sends nothing to hosts that its settings do not name: no telemetry, no update checks, no DNS queries. A
// complete installation runs in a network namespace that counts every packet that would leave the machine, and names.
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { afterAll, expect, it } from "vitest";
import { SHARED_POSTGRES_VARIABLE } from "../support/shared-postgres.ts";

const folder = mkdtempSync(join(tmpdir(), "gesso-egress-"));
afterAll(() => rmSync(folder, { recursive: true }));

/** Restate looks for newer versions of itself at GitHub, and has no setting against it. Gesso never does. */
const LOOKED_UP_BY_RESTATE = "api.github.com";

/** Addresses are those for documentation; the peer of the interface drops everything. */
const NAMESPACE = `
set -e
mount --bind "$1" /etc/resolv.conf
ip link set lo up
ip link add egress0 type veth peer name egress1
for name in egress0 egress1; do
  if [ -e /proc/sys/net/ipv6/conf/$name ]; then echo 1 > /proc/sys/net/ipv6/conf/$name/disable_ipv6; fi
done
ip addr add 192.0.2.2/24 dev egress0
ip link set egress0 up
ip link set egress1 up
ip neigh add 192.0.2.1 lladdr 02:00:00:00:00:01 dev egress0
ip route add default via 192.0.2.1
exec "$2" "$3"
`;

it("completes a run without a packet to another host and without a DNS query of its own", async () => {
  const resolver = join(folder, "resolv.conf");
  writeFileSync(resolver, "nameserver 127.0.0.1\n");
  const program = resolve("server/test/privacy/run-without-network.ts");
  const { stdout } = await promisify(execFile)(
    "unshare",
    ["--net", "--mount", "sh", "-c", NAMESPACE, "sh", resolver, process.execPath, program],
    // The PostgreSQL that tests share cannot be reached from there.
    { timeout: 240_000, env: { ...process.env, [SHARED_POSTGRES_VARIABLE]: "" } },
  );
  const { names, ...observed } = JSON.parse(stdout.trim().split("\n").at(-1)!);
  expect(names.filter((name: string) => name !== LOOKED_UP_BY_RESTATE)).toEqual([]);
  expect(observed).toEqual({ status: "completed", sentPackets: 0, control: { isNameSeen: true, packets: 1 } });
});
