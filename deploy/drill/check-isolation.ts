// Looks into a container of the stack from inside, as an attacker who controls a decoder would: the decoder program of
// the image is started as the server starts it, and reports its own restrictions.
import type { Docker } from "./docker.ts";

type Report = {
  profile: string;
  weaknesses: string[];
  sandbox: Record<string, unknown>;
  attempts: Record<string, string>;
};

/** Starts a decoder, and a program that tries to get out in the same sandbox. */
const PROBE = `
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
const images = "/opt/gesso/server/src/files/images/";
const { decoderSandboxProfiles, listWeaknesses } = await import(images + "decoder-sandbox.js");
const { chooseSandbox } = await import(images + "choose-sandbox.js");
const { profile, first, sandbox } = await chooseSandbox(decoderSandboxProfiles({ megabytes: 256 }));
const escape = \`
import { connect } from "node:net";
import { readFileSync } from "node:fs";
import { execFileSync } from "node:child_process";
const result = {};
const attempt = (name, action) => { try { action(); result[name] = "possible"; } catch (error) { result[name] = error.code; } };
attempt("read a secret", () => readFileSync("/run/secrets/gesso_secret"));
attempt("read the environment of the server", () => readFileSync("/proc/1/environ"));
attempt("start a program", () => execFileSync("/bin/true"));
const reach = (name, host, port) => new Promise((done) => {
  try {
    const socket = connect({ host, port, timeout: 2000 }, () => { result[name] = "possible"; socket.destroy(); done(); });
    socket.on("error", (error) => { result[name] = error.code; done(); });
    socket.on("timeout", () => { result[name] = "timeout"; socket.destroy(); done(); });
  } catch (error) { result[name] = error.code; done(); }
});
for (const [name, host, port] of ADDRESSES) await reach(name, host, port);
process.stdout.write(JSON.stringify(result));
\`;
const { lookup } = await import("node:dns/promises");
const database = (await lookup("postgres")).address;
const addresses = [["reach PostgreSQL", database, 5432], ["reach the server", "127.0.0.1", 7788]];
writeFileSync("/tmp/escape.mjs", escape.replace("ADDRESSES", JSON.stringify(addresses)));
const same = decoderSandboxProfiles({ megabytes: 256, program: "/tmp/escape.mjs" }).find(({ name }) => name === profile.name);
const inside = spawnSync(same.command, same.arguments, { env: { PATH: process.env.PATH }, cwd: "/", encoding: "utf8" });
const outside = spawnSync(process.execPath, ["/tmp/escape.mjs"], { encoding: "utf8" });
first.end();
process.stdout.write(JSON.stringify({
  profile: profile.name, weaknesses: listWeaknesses(sandbox), sandbox,
  attempts: JSON.parse(inside.stdout || JSON.stringify({ failed: inside.stderr })), control: JSON.parse(outside.stdout),
}));
process.exit(0);
`;

/**
 * Throws unless every attempt fails inside the sandbox. The same attempts outside it succeed, so that they would also
 * be noticed inside.
 */
export function checkIsolation({ docker }: Docker, container: string): Report {
  const text = docker("exec", container, "node", "--input-type=module", "-e", PROBE);
  const report = JSON.parse(text) as Report & { control: Record<string, string> };
  const wrong = Object.entries(report.attempts).filter(([, result]) => result === "possible" || result === "timeout");
  const blind = Object.entries(report.control).filter(([, result]) => result !== "possible");
  if (report.weaknesses.length > 0 || wrong.length > 0 || Object.keys(report.attempts).length !== 5 || blind.length > 0)
    throw new Error(`a decoder is not isolated: ${text}`);
  return report;
}
