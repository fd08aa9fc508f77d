// After a masked edit: how many pixels changed outside the mask, counted from the files of the source, the mask and the
// result.
import type { Layer, Run } from "@gesso/client";
import { useQuery } from "@tanstack/react-query";
import { ShieldCheck, TriangleAlert } from "lucide-react";
import { runLayersQuery } from "../api/queries.ts";
import { classNames } from "../parts/class-names.ts";
import { Icon } from "../parts/icon.tsx";
import { countChangedPixels } from "../pixels/changed-pixels.ts";
import { loadMaskValues, loadPixels } from "../pixels/load-pixels.ts";
import { findMaskReference } from "../pixels/mask-reference.ts";
import { text } from "../text/text.ts";
import styles from "./run-stage.module.css";

export function MaskChip({ run, result }: { run: Run; result: string }) {
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
