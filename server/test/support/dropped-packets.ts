// Drops every packet from and to TCP ports on loopback. Nothing is refused or reset, as behind a firewall or on a
// network that lost a host: connections stay open and new ones wait. Needs root.
import { execFileSync } from "node:child_process";
import { findProgram } from "./installed-programs.ts";

/** Drops the packets while `work` is under way. The rules are removed in any case, also after an interrupt. */
export async function dropPackets<T>(ports: number[], work: () => Promise<T>): Promise<T> {
  if (process.getuid?.() !== 0) throw new Error("iptables needs root. Run this drill as root, or in a container.");
  const iptables = findProgram("iptables", "iptables");
  const rules = ports.flatMap((port) =>
    ["--dport", "--sport"].map((side) => ["INPUT", "-i", "lo", "-p", "tcp", side, String(port), "-j", "DROP"]),
  );
  const added: string[][] = [];
  const removeRules = () => {
    for (const rule of added.splice(0)) execFileSync(iptables, ["-w", "-D", ...rule]);
  };
  const interrupt = () => process.exit(130);
  process.once("exit", removeRules).once("SIGINT", interrupt).once("SIGTERM", interrupt);
  try {
    for (const rule of rules) {
      execFileSync(iptables, ["-w", "-I", ...rule]);
      added.push(rule);
    }
    return await work();
  } finally {
    removeRules();
    process.off("exit", removeRules).off("SIGINT", interrupt).off("SIGTERM", interrupt);
  }
}
