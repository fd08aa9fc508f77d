// Generates the reference page of threats: every threat with its control and the tests that show it, and how many
// threats have which kind of control.
import type { TestTitles, Threat } from "../../server/test/threats/threat.ts";
import { threatSections } from "../../server/test/threats/threats.ts";
import { code, page, table } from "./markdown.ts";

const INTRODUCTION = `Every threat that Gesso is designed against, with its control and what shows that the control works. Every test runs
with \`npm test\`. \`npm run check\` fails if a threat has no control, or names a test that does not exist.

[Security](../guide/security.md) has the promises by subject, and the reasons for threats without a test.`;

const KINDS: Record<Threat["kind"], string> = {
  "control and test": "A control of Gesso, and a test that shows it",
  "by configuration": "Your configuration is the control",
  "not applicable": "Gesso has no such entry",
};

const testsText = (tests: TestTitles = {}) =>
  Object.entries(tests).map(([file, titles]) => `${code(file)} › ${titles.map((title) => `"${title}"`).join(", ")}`);

const evidenceOf = (threat: Threat) =>
  [
    ...(threat.kind === "control and test" ? [] : [`${threat.kind}: ${threat.reason}`]),
    ...testsText(threat.tests),
  ].join("<br>");

const sectionOf = ({ title, threats }: (typeof threatSections)[number]) => {
  const rows = threats.map((threat) => [
    threat.id,
    threat.asset,
    threat.entry,
    threat.threat,
    threat.control,
    evidenceOf(threat),
  ]);
  return `## ${title}\n\n${table(["ID", "Asset", "Entry", "Threat", "Control", "Shown by"], rows)}`;
};

export function generateThreatsPage(): string {
  const all = threatSections.flatMap(({ threats }) => threats);
  const counts = Object.entries(KINDS).map(([kind, meaning]) => [
    kind,
    meaning,
    String(all.filter((threat) => threat.kind === kind).length),
  ]);
  const overview = table(["Kind", "Meaning", "Threats"], [...counts, ["all", "", String(all.length)]]);
  return page("Threats", INTRODUCTION, overview, ...threatSections.map(sectionOf));
}
