// A block that says what happened, why, and what to do next.
import { CircleAlert, CircleCheck, Info, TriangleAlert } from "lucide-react";
import type { ReactNode } from "react";
import { classNames } from "./class-names.ts";
import { Icon } from "./icon.tsx";
import styles from "./notice.module.css";

const ICONS = { bad: CircleAlert, warn: TriangleAlert, ok: CircleCheck, info: Info };

type NoticeProps = { kind: keyof typeof ICONS; title: string; children?: ReactNode; actions?: ReactNode };

export function Notice({ kind, title, children, actions }: NoticeProps) {
  return (
    <div className={classNames(styles.notice, styles[kind])} role={kind === "bad" ? "alert" : "status"}>
      <Icon of={ICONS[kind]} />
      <b>{title}</b>
      {children && <div className={styles.words}>{children}</div>}
      {actions && <div className={styles.actions}>{actions}</div>}
    </div>
  );
}
