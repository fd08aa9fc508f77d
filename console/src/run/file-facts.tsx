// Size, kind and age of a file, and what can be done with it.
import type { Layer, Output, Run } from "@gesso/client";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Download, ShieldCheck, Star, TriangleAlert } from "lucide-react";
import { client } from "../api/client.ts";
import { runLayersQuery, runQuery } from "../api/queries.ts";
import { formatBytes } from "../format/bytes.ts";
import { extensionOf, formatSize } from "../format/file-facts.ts";
import { DAY } from "../format/time.ts";
import { Button } from "../parts/button.tsx";
import { buttonClass } from "../parts/button-class.ts";
import { classNames } from "../parts/class-names.ts";
import { CopyButton } from "../parts/copy-button.tsx";
import { Icon } from "../parts/icon.tsx";
import { countChangedPixels } from "../pixels/changed-pixels.ts";
import { loadMaskValues, loadPixels } from "../pixels/load-pixels.ts";
import { findMaskReference } from "../pixels/mask-reference.ts";
import { text } from "../text/text.ts";
import styles from "./run-stage.module.css";

type FileFactsProps = { output: Output; run: Run };

export function FileFacts({ output, run }: FileFactsProps) {
  const { run_id, expires_at } = run;
  const size = formatSize(output);
  const extension = extensionOf(output);
  const days = expires_at ? Math.max(0, Math.ceil((Date.parse(expires_at) - Date.now()) / DAY)) : undefined;
  return (
    <div className={styles.under}>
      <span className={styles.meta}>
        {size && <span>{size}</span>}
        <span>
          {extension.toUpperCase()} {formatBytes(output.size_bytes)}
        </span>
        {days !== undefined && <span>{text.run.expires(days)}</span>}
      </span>
      {output.media_type.startsWith("image/") && <MaskChip run={run} result={output.url} />}
      <span className={styles.space} />
      <StarButton run={run} />
      <CopyButton value={output.url} label={text.run.copyUrl} />
      <a className={buttonClass({ kind: "quiet", size: "s" })} href={output.url} download={`${run_id}.${extension}`}>
        <Icon of={Download} size="s" />
        {text.common.download}
      </a>
    </div>
  );
}

/**
 * After a masked edit: how many pixels changed outside the mask, counted from the files of the source, the mask and
 * the result.
 */
function MaskChip({ run, result }: { run: Run; result: string }) {
  const hasMask = findMaskReference(run) !== undefined;
  const { data: layers } = useQuery({ ...runLayersQuery(run.run_id), enabled: hasMask });
  const urlOf = (kind: Layer["kind"]) => layers?.data.layers.find((layer) => layer.kind === kind)?.image_url;
  const [source, mask] = [urlOf("source"), urlOf("mask")];
  const { data } = useQuery({
    queryKey: ["pixels", "outside", source, mask, result],
    queryFn: () => countOutside(source ?? "", mask ?? "", result),
    enabled: Boolean(source && mask),
    staleTime: Number.POSITIVE_INFINITY,
  });
  if (data === undefined || data === null) return null;
  return (
    <span className={classNames(styles.chip, data === 0 ? styles.ok : styles.warn)}>
      <Icon of={data === 0 ? ShieldCheck : TriangleAlert} size="s" />
      {text.runPage.outsideMask(data)}
    </span>
  );
}

/** Null if the images differ in size. */
async function countOutside(source: string, mask: string, result: string): Promise<number | null> {
  const [before, after] = await Promise.all([loadPixels(source), loadPixels(result)]);
  return countChangedPixels(before, after, await loadMaskValues(mask, before))?.outside ?? null;
}

/** The star of a run. It changes at once and falls back if the server refuses. */
function StarButton({ run: { run_id, starred = false } }: { run: Run }) {
  const queryClient = useQueryClient();
  const { queryKey } = runQuery(run_id);
  const show = (isStarred: boolean) =>
    queryClient.setQueryData<Run>(queryKey, (run) => run && { ...run, starred: isStarred });
  const { mutate } = useMutation({
    mutationFn: async (isStarred: boolean) => client.runs.update(run_id, { starred: isStarred }),
    onMutate: (isStarred) => show(isStarred),
    onError: (_error, isStarred) => show(!isStarred),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: ["runs", "list"] }),
  });
  const label = starred ? text.runPage.unstar : text.runPage.star;
  return (
    <Button kind="quiet" size="s" isIconOnly label={label} aria-pressed={starred} onClick={() => mutate(!starred)}>
      <Icon of={Star} size="s" className={starred ? styles.starred : undefined} />
    </Button>
  );
}
