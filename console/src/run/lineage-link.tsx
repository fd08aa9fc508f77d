// A relative of a run, as a small image.
import type { RunNode } from "@gesso/client";
import { Link } from "@tanstack/react-router";
import { CircleSlash, CircleX, ImageOff, LoaderCircle, type LucideIcon, Trash2 } from "lucide-react";
import { classNames } from "../parts/class-names.ts";
import { Icon } from "../parts/icon.tsx";
import styles from "./run-stage.module.css";
import { imageOfNode } from "./tree-title.ts";

type LineageLinkProps = { node: RunNode; label: string; isCurrent?: boolean };

export function LineageLink({ node, label, isCurrent = false }: LineageLinkProps) {
  const image = imageOfNode(node);
  return (
    <Link
      to="/runs/$runId"
      params={{ runId: node.run_id }}
      className={classNames(styles.thumbnail, node.deleted && styles.gone, isCurrent && styles.current)}
      {...(isCurrent && { "aria-current": "true" as const })}
      aria-label={label}
      title={label}
    >
      {image ? <img src={image} alt="" width={84} height={56} /> : <Icon of={iconOf(node)} />}
    </Link>
  );
}

const ICONS: Record<string, LucideIcon> = { failed: CircleX, canceled: CircleSlash, completed: ImageOff };

const iconOf = ({ deleted, status }: RunNode) => (deleted ? Trash2 : (ICONS[status] ?? LoaderCircle));
