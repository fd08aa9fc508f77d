// A relative of a run, as a small image.
import type { RunNode } from "@gesso/client";
import { Link } from "@tanstack/react-router";
import { classNames } from "../parts/class-names.ts";
import styles from "./run-stage.module.css";

type LineageLinkProps = { node: RunNode; label: string; isCurrent?: boolean };

export function LineageLink({ node, label, isCurrent = false }: LineageLinkProps) {
  return (
    <Link
      to="/runs/$runId"
      params={{ runId: node.run_id }}
      className={classNames(styles.thumbnail, isCurrent && styles.current)}
      aria-label={label}
      title={label}
    >
      {node.image_url && <img src={node.image_url} alt="" width={84} height={56} />}
    </Link>
  );
}
