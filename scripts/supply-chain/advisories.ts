// Decides which known vulnerabilities fail the build: every advisory of severity high or critical that has no
// exception, or whose exception has expired. Reads the report of `npm audit --json`.

type Advisory = { name: string; title: string; url: string; severity: string; range: string };
type AuditedPackage = { name: string; severity: string; via: (string | Advisory)[] };
export type AuditReport = { auditReportVersion: number; vulnerabilities: Record<string, AuditedPackage> };

/** `until` is the last day on which the exception holds, for example "2026-12-31". */
export type AdvisoryException = { advisory: string; package: string; until: string; reason: string };

const BLOCKING = ["high", "critical"];
const DATE = /^\d{4}-\d{2}-\d{2}$/;

const idOf = ({ url }: Advisory) => url.slice(url.lastIndexOf("/") + 1);

export function listAdvisories(report: AuditReport): Advisory[] {
  const all = Object.values(report.vulnerabilities).flatMap(({ via }) =>
    via.filter((each) => typeof each === "object"),
  );
  return [...new Map(all.map((advisory) => [`${advisory.name} ${advisory.url}`, advisory])).values()];
}

export function findBlockingAdvisories(report: AuditReport, exceptions: AdvisoryException[], today: string): string[] {
  const advisories = listAdvisories(report);
  const isCovered = (advisory: Advisory, exception: AdvisoryException) =>
    exception.advisory === idOf(advisory) && exception.package === advisory.name;
  return [
    ...advisories
      .filter(({ severity }) => BLOCKING.includes(severity))
      .filter((advisory) => !exceptions.some((each) => isCovered(advisory, each) && today <= each.until))
      .map(({ name, range, severity, title, url }) => `${name} ${range}: ${severity}, ${title} (${url})`),
    ...exceptions.flatMap((exception) => findExceptionFaults(exception, today)),
    ...exceptions
      .filter((exception) => !advisories.some((advisory) => isCovered(advisory, exception)))
      .map((exception) => `the exception for ${exception.advisory} is no longer needed: remove it`),
  ];
}

function findExceptionFaults({ advisory, until, reason }: AdvisoryException, today: string): string[] {
  if (!DATE.test(until) || !reason?.trim()) return [`the exception for ${advisory} needs a date and a reason`];
  return until < today ? [`the exception for ${advisory} expired on ${until}`] : [];
}
