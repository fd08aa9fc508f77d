// Runs HAProxy and nginx with the files of deploy/proxy. Only addresses, ports and paths are replaced, so what runs is
// what operators get.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { freePort, type ManagedProcess, startProcess } from "@gesso/dev/components";
import type { Certificate } from "../ssrf/certificates.ts";

export type ProxyName = "haproxy" | "nginx";
export type ReverseProxy = { url: string; plainUrl: string; workerUrl: string; process: ManagedProcess };
export type ProxyTargets = {
  apiPorts: number[];
  workers: { port: number; healthPort: number }[];
};

type ProxyOptions = ProxyTargets & { directory: string; certificate: Certificate };
type ListenPorts = { https: number; http: number; workers: number };

/** `localhost` must be the name in the certificate. */
export async function startReverseProxy(name: ProxyName, options: ProxyOptions): Promise<ReverseProxy> {
  const directory = join(options.directory, name);
  mkdirSync(directory, { recursive: true });
  const { key, cert } = options.certificate;
  writeFileSync(join(directory, "gesso.pem"), cert + key);
  writeFileSync(join(directory, "gesso.crt"), cert);
  writeFileSync(join(directory, "gesso.key"), key);

  const ports = { https: await freePort(), http: await freePort(), workers: await freePort() };
  const replacements = name === "haproxy" ? haproxyAddresses : nginxAddresses;
  const source = name === "haproxy" ? "haproxy.cfg" : "nginx.conf";
  const committed = readFileSync(new URL(`../../../deploy/proxy/${source}`, import.meta.url), "utf8");
  const file = join(directory, source);
  writeFileSync(file, replaceEach(committed, replacements(directory, ports, options)));

  const nginxOptions = `daemon off; pid ${join(directory, "nginx.pid")};`;
  const process = await startProcess({
    name,
    url: `https://localhost:${ports.https}`,
    command:
      name === "haproxy" ? ["haproxy", "-db", "-f", file] : ["nginx", "-e", "stderr", "-c", file, "-g", nginxOptions],
    log: join(directory, `${name}.log`),
    environment: { PATH: "/usr/sbin:/usr/bin:/sbin:/bin" },
    directory,
    probe: () => acceptsConnections(ports.https),
    readySeconds: 10,
  });
  const plainUrl = `http://localhost:${ports.http}`;
  return { url: process.url, plainUrl, workerUrl: `http://127.0.0.1:${ports.workers}`, process };
}

type CellOptions = { directory: string; port: number; hosts: string[]; apis: string[] };

/** HAProxy with deploy/proxy/cells.cfg, without TLS. `hosts` stand for the hosts of the cells. */
export async function startCellRouter({ directory, port, hosts, apis }: CellOptions): Promise<ManagedProcess> {
  const committed = readFileSync(new URL("../../../deploy/proxy/cells.cfg", import.meta.url), "utf8");
  const file = join(directory, "cells.cfg");
  const binds = ["127.0.0.1", ...hosts].map((host) => `${host}:${port}`);
  const addresses = {
    "bind :443 ssl crt /etc/haproxy/certs/gesso.pem alpn h2,http/1.1": `bind ${binds.join(",")}`,
    "aa.gesso.example": hosts[0]!,
    "bb.gesso.example": hosts[1]!,
    "10.0.1.11:7788": apis[0]!,
    "10.0.2.11:7788": apis[1]!,
  };
  writeFileSync(file, replaceEach(committed, addresses));
  return startProcess({
    name: "router",
    url: `http://127.0.0.1:${port}`,
    command: ["haproxy", "-db", "-f", file],
    log: join(directory, "router.log"),
    environment: { PATH: "/usr/sbin:/usr/bin:/sbin:/bin" },
    directory,
    probe: () => acceptsConnections(port),
    readySeconds: 10,
  });
}

const haproxyAddresses = (directory: string, ports: ListenPorts, { apiPorts, workers }: ProxyTargets) => ({
  "bind :80": `bind 127.0.0.1:${ports.http}`,
  "bind :443": `bind 127.0.0.1:${ports.https}`,
  "/etc/haproxy/certs": directory,
  "10.0.0.10:7789": `127.0.0.1:${ports.workers}`,
  "10.0.0.11:7788": `127.0.0.1:${apiPorts[0]}`,
  "10.0.0.12:7788": `127.0.0.1:${apiPorts[1]}`,
  "10.0.0.21:7789 proto h2 check port 7788": `127.0.0.1:${workers[0]!.port} proto h2 check port ${workers[0]!.healthPort}`,
  "10.0.0.22:7789 proto h2 check port 7788": `127.0.0.1:${workers[1]!.port} proto h2 check port ${workers[1]!.healthPort}`,
});

const nginxAddresses = (directory: string, ports: ListenPorts, { apiPorts }: ProxyTargets) => ({
  "listen 80": `listen 127.0.0.1:${ports.http}`,
  "listen 443": `listen 127.0.0.1:${ports.https}`,
  "/etc/nginx/certs": directory,
  "/var/log/nginx": directory,
  "10.0.0.11:7788": `127.0.0.1:${apiPorts[0]}`,
  "10.0.0.12:7788": `127.0.0.1:${apiPorts[1]}`,
});

function replaceEach(text: string, replacements: Record<string, string>): string {
  return Object.entries(replacements).reduce((whole, [from, to]) => {
    if (!whole.includes(from)) throw new Error(`the committed file does not contain "${from}"`);
    return whole.replaceAll(from, to);
  }, text);
}

const acceptsConnections = (port: number) =>
  new Promise<boolean>((resolve) => {
    const socket = connect(port, "127.0.0.1", () => resolve(true)).on("error", () => resolve(false));
    socket.on("connect", () => socket.destroy());
  });
