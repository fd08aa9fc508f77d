// Size, kind and age of a file, and what can be done with it.
import type { Output, Run } from "@gesso/client";
import { Download } from "lucide-react";
import { formatBytes } from "../format/bytes.ts";
import { DAY } from "../format/time.ts";
import { buttonClass } from "../parts/button-class.ts";
import { CopyButton } from "../parts/copy-button.tsx";
import { Icon } from "../parts/icon.tsx";
import { text } from "../text/text.ts";
import { MaskChip } from "./mask-chip.tsx";
import styles from "./run-stage.module.css";
import { StarButton } from "./star-button.tsx";

type FileFactsProps = { output: Output; run: Run };

export function FileFacts({ output, run }: FileFactsProps) {
  const { run_id, expires_at } = run;
  const extension = output.media_type.split("/")[1] ?? "";
  const days = expires_at ? Math.max(0, Math.ceil((Date.parse(expires_at) - Date.now()) / DAY)) : undefined;
  return (
    <div className={styles.under}>
      <span className={styles.meta}>
        <span>
          {output.width} × {output.height}
        </span>
        <span>
          {extension.toUpperCase()} {formatBytes(output.size_bytes)}
        </span>
        {days !== undefined && <span>{text.run.expires(days)}</span>}
      </span>
      {output.media_type.startsWith("image/") && <MaskChip run={run} result={output.url} />}
      <span className={styles.space} />
      <StarButton run={run} />
      <CopyButton value={output.url} label={text.run.copyUrl} />
      <a
        className={buttonClass({ kind: "quiet", size: "s" })}
        href={output.url}
        download={`${run_id}.${extension === "jpeg" ? "jpg" : extension}`}
      >
        <Icon of={Download} size="s" />
        {text.common.download}
      </a>
    </div>
  );
}
