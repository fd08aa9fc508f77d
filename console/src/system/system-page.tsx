// System, for operators: whether the installation works, its providers and its checks. It shows numbers, no content.
import { GessoError, type SystemReport } from "@gesso/client";
import { useQuery } from "@tanstack/react-query";
import { CircleCheck, CircleMinus, CircleX, Download, RefreshCw, ShieldX, TriangleAlert } from "lucide-react";
import { systemQuery } from "../api/system.ts";
import { formatDuration } from "../format/time.ts";
import { Button } from "../parts/button.tsx";
import { classNames } from "../parts/class-names.ts";
import { EmptyState } from "../parts/empty-state.tsx";
import { ErrorNotice } from "../parts/error-notice.tsx";
import { Icon } from "../parts/icon.tsx";
import { Notice } from "../parts/notice.tsx";
import { saveBlob } from "../parts/save-blob.ts";
import { useNow } from "../parts/use-now.ts";
import { TopBar } from "../shell/top-bar.tsx";
import { text } from "../text/text.ts";
import { ProviderList } from "./provider-list.tsx";
import { SystemFigures } from "./system-figures.tsx";
import styles from "./system-page.module.css";
import { formatUptime } from "./uptime.ts";

const words = text.system;
const FORBIDDEN = 403;

export function SystemPage() {
  const { data: report, error, refetch, isFetching } = useQuery(systemQuery);
  const now = useNow();
  const isForbidden = GessoError.isInstance(error) && error.status === FORBIDDEN;
  return (
    <>
      <TopBar title={text.navigation.system}>
        {report && <StateChip isOk={report.ok} />}
        <span className={styles.sub}>{report && describe(report, now)}</span>
        <span className={styles.grow} />
        <Button kind="quiet" aria-disabled={isFetching} onClick={() => void refetch()}>
          <Icon of={RefreshCw} />
          {words.checkNow}
        </Button>
        <Button aria-disabled={!report} onClick={() => report && saveReport(report)}>
          <Icon of={Download} />
          {words.diagnostics}
        </Button>
      </TopBar>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a pane that scrolls is reachable by keyboard */}
      <section className={styles.body} aria-label={words.figures} aria-busy={!report && !error} tabIndex={0}>
        {isForbidden && (
          <EmptyState icon={ShieldX} title={words.operatorOnly}>
            {words.operatorOnlyNext}
          </EmptyState>
        )}
        {error && !isForbidden && <ErrorNotice error={error} onRetry={() => void refetch()} />}
        {!isForbidden && <SystemFigures report={report} />}
        {!report && !error && (
          <p className={styles.checking} role="status">
            {words.checking}
          </p>
        )}
        {report && <Report report={report} />}
      </section>
    </>
  );
}

function Report({ report }: { report: SystemReport }) {
  const failed = report.checks.filter(({ status }) => status === "fail");
  return (
    <>
      {failed.map(({ name, message, fix }) => (
        <Notice key={`${name} ${message}`} kind="bad" title={words.problem(words.checkNames[name] ?? name)}>
          {toSentence(message)} {fix && toSentence(fix)}
        </Notice>
      ))}
      <section aria-labelledby="providers">
        <div className={styles.head}>
          <h2 id="providers">{words.providers}</h2>
          <span className={styles.caption}>{words.providersNote}</span>
        </div>
        <ProviderList report={report} />
      </section>
      <section aria-labelledby="checks">
        <div className={styles.head}>
          <h2 id="checks">{words.checks}</h2>
        </div>
        <CheckList checks={report.checks} />
      </section>
    </>
  );
}

/** Messages of the doctor begin with a small letter, because it prints them after a name. */
const toSentence = (message: string) => `${message.charAt(0).toUpperCase()}${message.slice(1).replaceAll("`", "")}.`;

function StateChip({ isOk }: { isOk: boolean }) {
  return (
    <span className={classNames(styles.chip, isOk ? styles.chipOk : styles.chipBad)}>
      <Icon of={isOk ? CircleCheck : TriangleAlert} size="s" />
      {isOk ? words.ready : words.notReady}
    </span>
  );
}

const describe = ({ version, started_at, checked_at }: SystemReport, now: number) =>
  words.about(
    version,
    formatUptime(now - Date.parse(started_at)),
    formatDuration(now - Date.parse(checked_at)).replace(/\.\d s$/, " s"),
  );

const saveReport = (report: SystemReport) =>
  saveBlob(
    new Blob([JSON.stringify(report, null, 2)], { type: "application/json" }),
    `gesso-system-${report.checked_at.slice(0, 10)}.json`,
  );

const ICONS = { pass: CircleCheck, warn: TriangleAlert, fail: CircleX, skip: CircleMinus };
const checkListWords = text.system;

/** The checks of the doctor, each with its result and what to do about a failure. */
function CheckList({ checks }: { checks: SystemReport["checks"] }) {
  return (
    <ul className={styles.checks}>
      {checks.map(({ name, status, message, fix }) => (
        <li key={`${name} ${message}`}>
          <span className={classNames(styles.mark, styles[status])}>
            <Icon of={ICONS[status as keyof typeof ICONS] ?? CircleMinus} size="s" />
            <span className="visually-hidden">{checkListWords.checkStatuses[status]}</span>
          </span>
          <span className={styles.checkName}>{checkListWords.checkNames[name] ?? name}</span>
          <span className={styles.message}>
            {message}
            {fix && <span className={styles.fix}>{fix}</span>}
          </span>
        </li>
      ))}
    </ul>
  );
}
