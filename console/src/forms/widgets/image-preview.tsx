// The image of a field. Only files of this installation are shown: the page loads nothing from other hosts.
import { useQuery } from "@tanstack/react-query";
import { ImageIcon, X } from "lucide-react";
import { configQuery, runQuery } from "../../api/queries.ts";
import { formatSize } from "../../format/file-facts.ts";
import { Button } from "../../parts/button.tsx";
import { Icon } from "../../parts/icon.tsx";
import { text } from "../../text/text.ts";
import { runIdOf } from "../image-input.ts";
import styles from "./image-widget.module.css";

type ImagePreviewProps = { id: string; value: unknown; label: string; onRemove(): void };

export function ImagePreview({ id, value, label, onRemove }: ImagePreviewProps) {
  const runId = runIdOf(value);
  const { data: config } = useQuery(configQuery);
  const { data: run } = useQuery({ ...runQuery(runId ?? ""), enabled: runId !== undefined });
  const url = runId ? run?.image_url : String(value);
  const isOwn = url && [location.origin, config?.public_url].some((own) => own && url.startsWith(`${own}/`));
  const [output] = run?.outputs ?? [];
  return (
    <div className={styles.preview} id={id} tabIndex={-1}>
      {isOwn ? (
        <img src={url} alt={label} width={66} height={48} />
      ) : (
        <span className={styles.glyph}>
          <Icon of={ImageIcon} size="l" />
        </span>
      )}
      <span className={styles.facts}>
        <span className={styles.title}>{runId ? text.image.fromRun(runId.slice(-8)) : String(value)}</span>
        {output && <span className={styles.hint}>{formatSize(output)}</span>}
      </span>
      <Button kind="quiet" size="s" isIconOnly label={text.image.remove(label)} onClick={onRemove}>
        <Icon of={X} size="s" />
      </Button>
    </div>
  );
}
