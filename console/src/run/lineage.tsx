// The parent, this run, and the runs that were derived from it or from its parent. The strip has its height before the
// tree is read, so that the image above never moves.
import type { Run } from "@gesso/client";
import { useQuery } from "@tanstack/react-query";
import { ChevronRight } from "lucide-react";
import { runTreeQuery } from "../api/queries.ts";
import { Icon } from "../parts/icon.tsx";
import { text } from "../text/text.ts";
import { LineageLink } from "./lineage-link.tsx";
import { lineageOf } from "./lineage-of.ts";
import styles from "./run-stage.module.css";

export function Lineage({ run }: { run: Run }) {
  const { data: tree } = useQuery(runTreeQuery(run.run_id));
  const { parent, children, siblings, self } = lineageOf(tree?.nodes ?? [], run.run_id);
  return (
    <nav className={styles.lineage} aria-label={text.run.tabs.tree}>
      {parent && <LineageLink node={parent} label={text.run.parent} />}
      {parent && <Icon of={ChevronRight} size="s" />}
      {self && <LineageLink node={self} label={text.run.thisRun} isCurrent />}
      {children.length > 0 && <Icon of={ChevronRight} size="s" />}
      {children.map((node) => (
        <LineageLink key={node.run_id} node={node} label={node.prompt ?? text.run.children} />
      ))}
      {siblings.length > 0 && <span className={styles.label}>{text.run.siblings}</span>}
      {siblings.map((node) => (
        <LineageLink key={node.run_id} node={node} label={node.prompt ?? text.run.siblings} />
      ))}
    </nav>
  );
}
