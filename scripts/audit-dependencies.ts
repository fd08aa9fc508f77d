// `npm run release -- advisories`: asks the registry for known vulnerabilities of all locked packages, and fails on
// those of severity high or critical. A registry that does not answer is reported and fails only with `--required`.
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import {
  type AdvisoryException,
  type AuditReport,
  findBlockingAdvisories,
  listAdvisories,
} from "./supply-chain/advisories.ts";

const EXCEPTIONS = new URL("supply-chain/advisory-exceptions.json", import.meta.url);
const isRequired = process.argv.includes("--required");

const parameters = ["audit", "--json", "--package-lock-only", "--fetch-retries=1", "--fetch-timeout=20000"];
const { stdout, stderr } = spawnSync("npm", parameters, { encoding: "utf8", maxBuffer: 64 * 1024 * 1024 });

function parseReport(text: string): Partial<AuditReport> & { message?: string } {
  try {
    return JSON.parse(text);
  } catch {
    return { message: stderr.trim().split("\n").at(-1) };
  }
}

const report = parseReport(stdout);
if (report.auditReportVersion !== 2 || !report.vulnerabilities) {
  console.log(`advisories NOT checked: the registry did not answer. ${report.message ?? "Unknown report."}`);
  process.exit(isRequired ? 1 : 0);
}

const audited = report as AuditReport;
const exceptions = JSON.parse(readFileSync(EXCEPTIONS, "utf8")) as AdvisoryException[];
const blocking = findBlockingAdvisories(audited, exceptions, new Date().toISOString().slice(0, 10));
console.log(blocking.join("\n") || `${listAdvisories(audited).length} advisories, none of them blocks`);
process.exit(blocking.length > 0 ? 1 : 0);
