// `gesso doctor`: checks settings, dependencies, providers and their keys, and with `--spend` one cheap run at each.
import { runDoctor } from "@gesso/dev/doctor";
import { Command } from "commander";
import manifest from "../../package.json" with { type: "json" };
import { type ConnectionFlags, createCliClient, resolveConnection, withConnection } from "../connection.ts";
import { checkByPaying } from "../doctor/check-by-paying.ts";
import { commandError, EXIT_CODES, runCommand } from "../exit-codes.ts";

type Flags = ConnectionFlags & { json?: boolean; live?: boolean; spend?: string; metrics?: string };

const DEFAULT_DATA = "./.gesso";
const EXAMPLES = `
Examples:
  gesso doctor                    check the configuration, dependencies and enabled providers
  gesso doctor --json             print the results as JSON
  gesso doctor --live             also look at each model of each provider, for nothing
  gesso doctor --live --spend 0.10
                                  also make the cheapest image or text of each provider, for at most $0.10 in all

Without --spend, doctor sends no paid requests. A run of --spend is like any other: it is booked, and limits apply to
it. The report has no secrets and can be put into an issue.
Exit code 1: at least one check failed.`;

export function doctorCommand(): Command {
  return withConnection(new Command("doctor"))
    .option("--json", "print one JSON object on standard output")
    .option("--live", "also look at each model: whether the provider lists it, and whether its schema still fits")
    .option("--spend <dollars>", "with --live: make one cheap run at each provider, for at most this much in all")
    .option("--metrics <url>", "URL of the metrics of the API, which show whether callbacks arrive")
    .addHelpText("after", EXAMPLES)
    .action(async (flags: Flags) => {
      process.exitCode = await diagnose(flags);
    });
}

async function diagnose(flags: Flags): Promise<number> {
  const { json, live, spend } = flags;
  const most = spend === undefined ? undefined : Number(spend);
  if (most !== undefined && (!live || json || !(most > 0))) {
    const problem = "--spend needs --live and an amount above 0, such as --spend 0.10, and excludes --json.";
    return runCommand(
      "gesso doctor",
      () => ({ url: "" }),
      () => Promise.reject(commandError("usage", problem)),
    );
  }
  if (live && !json) {
    process.stdout.write(
      `\n  gesso ${manifest.version}, Node ${process.version}, ${process.platform} ${process.arch}\n`,
    );
  }
  const code = await runDoctor({ data: flags.data ?? DEFAULT_DATA, ...(json && { json }), ...(live && { live }) });
  if (most === undefined) return code;
  const paid = await runCommand(
    "gesso doctor",
    () => resolveConnection(flags),
    (connection) => checkByPaying(createCliClient(connection), { most, metricsUrl: flags.metrics }),
  );
  return paid === EXIT_CODES.ok ? code : paid;
}
