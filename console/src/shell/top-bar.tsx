// The bar at the top of a page: its title, and what the page puts beside it.
import type { ReactNode } from "react";
import { PageTitle } from "./page-title.tsx";
import styles from "./top-bar.module.css";

type TopBarProps = { title: string; lead?: ReactNode; children?: ReactNode };

export function TopBar({ title, lead, children }: TopBarProps) {
  return (
    <header className={styles.bar}>
      <PageTitle title={title} />
      {lead ?? <h1>{title}</h1>}
      {children}
    </header>
  );
}
