// The layers of a run, as an editor would stack them: the top layer first.
import type { Run } from "@gesso/client";
import { useQuery } from "@tanstack/react-query";
import { runLayersQuery } from "../api/queries.ts";
import { ErrorNotice } from "../parts/error-notice.tsx";
import { text } from "../text/text.ts";
import styles from "./layers-tab.module.css";

const words = text.runPage.layers;

export function LayersTab({ run }: { run: Run }) {
  const { data, error, refetch } = useQuery(runLayersQuery(run.run_id));
  if (error) return <ErrorNotice error={error} onRetry={() => void refetch()} />;
  const layers = [...(data?.data.layers ?? [])].sort((a, b) => b.z_index - a.z_index);
  if (data && layers.length === 0) return <p className={styles.none}>{words.none}</p>;
  return (
    <ul>
      {layers.map((layer) => (
        <li key={layer.id} className={styles.layer}>
          <span className={styles.preview}>
            {layer.image_url && <img src={layer.image_url} alt="" width={60} height={42} />}
          </span>
          <span className={styles.name}>
            {layer.name}
            <small>
              {words.kinds[layer.kind] ?? layer.kind}
              {layer.kind === "mask" && ` · ${words.maskHint}`}
            </small>
          </span>
          <span className={styles.place}>
            {layer.width} × {layer.height}
            <small>{words.place(layer.x, layer.y)}</small>
          </span>
        </li>
      ))}
    </ul>
  );
}
