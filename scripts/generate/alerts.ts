// Generates the rules of Prometheus, their tests and the guide page from the list of alerts.
import { stringify } from "yaml";
import { ALERTS, type Alert } from "../monitoring/alerts.ts";
import { code, GENERATED_NOTICE, page } from "./markdown.ts";

const toYaml = (value: unknown) => `# ${GENERATED_NOTICE}\n${stringify(value, { lineWidth: 120 })}`;

const runbook = ({ name }: Alert) => `docs/guide/alerts.md#${name.toLowerCase()}`;

export const generateAlertRules = () =>
  toYaml({
    groups: [
      {
        name: "gesso",
        rules: ALERTS.map((alert) => ({
          alert: alert.name,
          expr: alert.expr,
          for: alert.for,
          labels: { severity: alert.severity },
          annotations: { summary: alert.summary, runbook: runbook(alert) },
        })),
      },
    ],
  });

/** No alert fires in the quiet minutes. Each fires half an hour later, and no other does. */
export const generateAlertTests = () =>
  toYaml({
    rule_files: ["alerts.yaml"],
    evaluation_interval: "1m",
    tests: ALERTS.map((alert) => ({
      name: alert.name,
      interval: "1m",
      input_series: [{ series: alert.fires.series, values: alert.fires.values }],
      promql_expr_test: [
        { expr: "count(ALERTS) or vector(0)", eval_time: "9m", exp_samples: [{ labels: "{}", value: 0 }] },
        {
          expr: 'sum by (alertname, severity) (ALERTS{alertstate="firing"})',
          eval_time: "45m",
          exp_samples: [{ labels: `{alertname="${alert.name}", severity="${alert.severity}"}`, value: 1 }],
        },
      ],
    })),
  });

const describe = ({ name, severity, expr, for: duration, means, look, act }: Alert) =>
  [
    `## ${name}`,
    `${means}`,
    `- **Rule**: ${code(expr)} for ${duration}. Severity: ${severity}.`,
    `- **Look at**: ${look}`,
    `- **Do**: ${act}`,
  ].join("\n\n");

const INTRODUCTION = `<!-- test:none the rules are tested with promtool -->

\`deploy/monitoring/alerts.yaml\` has rules for Prometheus. Each alert has a runbook on this page: what it means, where to look,
and what to do. \`page\` needs someone now, \`ticket\` the next working day.

Scrape every process with \`METRICS_PORT\` under the job \`gesso\`, and load the rules:

\`\`\`yaml
rule_files: [alerts.yaml]
scrape_configs:
  - job_name: gesso
    static_configs: [{ targets: ["127.0.0.1:9464", "127.0.0.1:9465"] }]
\`\`\`

\`promtool test rules deploy/monitoring/alerts.test.yaml\` shows that each rule fires for its series, and for no other.`;

export const generateAlertsPage = () => page("Alerts", INTRODUCTION, ...ALERTS.map(describe));
