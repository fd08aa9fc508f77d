import { describe, expect, it } from "vitest";
import { type AuditReport, findBlockingAdvisories, listAdvisories } from "./advisories.ts";

const HIGH = {
  name: "lodash",
  title: "Command Injection in lodash",
  url: "https://github.com/advisories/GHSA-35jh-r3h4-6jhm",
  severity: "high",
  range: "<4.17.21",
};
const MODERATE = { ...HIGH, url: "https://github.com/advisories/GHSA-29mw-wpgm-hmr9", severity: "moderate" };
const EXCEPTION = { advisory: "GHSA-35jh-r3h4-6jhm", package: "lodash", until: "2026-12-31", reason: "not reachable" };

/** As npm reports it: a package that needs the vulnerable one names it instead of an advisory. */
const REPORT: AuditReport = {
  auditReportVersion: 2,
  vulnerabilities: {
    lodash: { name: "lodash", severity: "high", via: [HIGH, MODERATE] },
    app: { name: "app", severity: "high", via: ["lodash"] },
  },
};

describe("findBlockingAdvisories", () => {
  it("blocks on high and critical advisories, and names them", () => {
    expect(findBlockingAdvisories(REPORT, [], "2026-11-16")).toEqual([
      expect.stringMatching(/^lodash <4\.17\.21: high, .*GHSA-35jh-r3h4-6jhm\)$/),
    ]);
    const critical = { ...HIGH, severity: "critical" };
    const report = { ...REPORT, vulnerabilities: { lodash: { ...REPORT.vulnerabilities.lodash!, via: [critical] } } };
    expect(findBlockingAdvisories(report, [], "2026-11-16")).toHaveLength(1);
    expect(listAdvisories(REPORT)).toHaveLength(2);
  });

  it("an exception holds up to and including its last day", () => {
    expect(findBlockingAdvisories(REPORT, [EXCEPTION], "2026-12-31")).toEqual([]);
    expect(findBlockingAdvisories(REPORT, [EXCEPTION], "2027-01-01")).toEqual([
      expect.stringContaining("lodash"),
      expect.stringContaining("expired on 2026-12-31"),
    ]);
  });

  it.each([
    ["another package", { ...EXCEPTION, package: "underscore" }, 2],
    ["another advisory", { ...EXCEPTION, advisory: "GHSA-0000-0000-0000" }, 2],
    ["no date", { ...EXCEPTION, until: "later" }, 1],
    ["no reason", { ...EXCEPTION, reason: "" }, 1],
  ])("does not accept an exception with %s", (_, exception, violations) => {
    expect(findBlockingAdvisories(REPORT, [exception], "2026-11-16")).toHaveLength(violations);
  });

  it("a report without vulnerabilities passes, and its exceptions are to be removed", () => {
    const report = { ...REPORT, vulnerabilities: {} };
    expect(findBlockingAdvisories(report, [], "2026-11-16")).toEqual([]);
    expect(findBlockingAdvisories(report, [EXCEPTION], "2026-11-16")).toEqual([expect.stringContaining("remove it")]);
  });
});
