// What the outputs of a run say about their origin, verified by the server at this moment.
import type { Run } from "@gesso/client";
import { useQuery } from "@tanstack/react-query";
import { runProvenanceQuery } from "../api/queries.ts";
import { ErrorNotice } from "../parts/error-notice.tsx";
import { text } from "../text/text.ts";
import { OutputProvenance } from "./output-provenance.tsx";
import styles from "./provenance-tab.module.css";

const words = text.runPage.provenance;

export function ProvenanceTab({ run }: { run: Run }) {
  const { data, error, refetch } = useQuery(runProvenanceQuery(run));
  if (error) return <ErrorNotice error={error} onRetry={() => void refetch()} />;
  if (!data) return <p className={styles.note}>{words.reading}</p>;
  if (data.outputs.length === 0) return <p className={styles.note}>{words.none}</p>;
  return (
    <ul className={styles.outputs}>
      {data.outputs.map((output, index) => (
        <li key={output.asset_id}>
          <OutputProvenance output={output} number={data.outputs.length > 1 ? index + 1 : undefined} />
        </li>
      ))}
    </ul>
  );
}
