// The links between runs: solid to the parent, dashed to a run whose image was used, and in the accent colour along the
// path from the root to the selected run.
import type { RunEdge } from "@gesso/client";
import { memo } from "react";
import { classNames } from "../parts/class-names.ts";
import { edgePath, type PlacedRow } from "./graph-layout.ts";
import styles from "./tree-graph.module.css";

type GraphEdgesProps = {
  edges: readonly RunEdge[];
  places: ReadonlyMap<string, PlacedRow>;
  path: ReadonlySet<string>;
};

export const GraphEdges = memo(function GraphEdges({ edges, places, path }: GraphEdgesProps) {
  const isOnPath = ({ from, to, kind }: RunEdge) => kind === "parent" && path.has(from) && path.has(to);
  // The path is drawn last, above the other links.
  const ordered = edges.toSorted((a, b) => Number(isOnPath(a)) - Number(isOnPath(b)));
  return (
    <svg className={styles.edges} width="1" height="1" aria-hidden="true">
      {ordered.map((edge) => {
        const [derived, origin] = [places.get(edge.from), places.get(edge.to)];
        if (!derived || !origin) return null;
        return (
          <path
            key={`${edge.from} ${edge.to} ${edge.kind} ${edge.role}`}
            data-from={edge.from}
            data-to={edge.to}
            data-kind={edge.kind}
            data-role={edge.role}
            className={classNames(
              styles.edge,
              edge.kind === "reference" && styles.reference,
              (derived.node.deleted || origin.node.deleted) && styles.gone,
              isOnPath(edge) && styles.onPath,
            )}
            d={edgePath(origin, derived)}
          />
        );
      })}
    </svg>
  );
});
