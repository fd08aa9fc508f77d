// Ledger, queue, unknown outcomes and storage at a glance.
import type { SystemReport } from "@gesso/client";
import { Database, List, type LucideIcon, MessageCircleQuestionMark, ShieldCheck } from "lucide-react";
import { formatBytes } from "../format/bytes.ts";
import { formatDuration } from "../format/time.ts";
import { Icon } from "../parts/icon.tsx";
import { text } from "../text/text.ts";
import styles from "./system-page.module.css";

const words = text.system;
const LEDGER_WORDS: Record<string, string> = { pass: words.balanced, fail: words.unbalanced };

export function SystemFigures({ report }: { report: SystemReport | undefined }) {
  const ledger = report?.checks.find(({ name }) => name === "ledger");
  const queue = report?.queue;
  return (
    <dl className={styles.health}>
      <Figure
        icon={ShieldCheck}
        name={words.ledger}
        value={ledger && (LEDGER_WORDS[ledger.status] ?? words.unchecked)}
        note={ledger && (ledger.status === "pass" ? words.ledgerNote : words.ledgerSee)}
      />
      <Figure
        icon={List}
        name={words.queue}
        value={queue && words.waiting(queue.waiting)}
        note={
          queue &&
          (queue.waiting > 0
            ? words.queueNote(formatDuration(queue.oldest_wait_seconds * 1000), queue.processing)
            : words.queueIdle(queue.processing))
        }
      />
      <Figure
        icon={MessageCircleQuestionMark}
        name={words.unknown}
        value={report && words.unknownOpen(report.unknown_outcomes)}
        note={report && words.unknownNote}
      />
      <Figure
        icon={Database}
        name={words.storage}
        value={report && formatBytes(report.storage.bytes)}
        note={report && words.storageNote(report.storage.files)}
      />
    </dl>
  );
}

type FigureProps = { icon: LucideIcon; name: string; value: string | undefined; note: string | undefined };

function Figure({ icon, name, value, note }: FigureProps) {
  return (
    <div>
      <dt>
        <Icon of={icon} size="s" />
        {name}
      </dt>
      <dd className={styles.value}>{value ?? <span className={styles.placeholder} />}</dd>
      <dd className={styles.note}>{note ?? "\u00a0"}</dd>
    </div>
  );
}
