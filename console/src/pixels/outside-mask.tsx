// Says how many pixels a masked edit changed outside its mask. The page counts them itself from the two files, so the
// sentence is a measurement and not a promise.
import { useQuery } from "@tanstack/react-query";
import { client } from "../api/client.ts";
import { Notice } from "../parts/notice.tsx";
import { text } from "../text/text.ts";
import { countChangedPixels } from "./changed-pixels.ts";
import { loadMaskValues, loadPixels } from "./load-pixels.ts";
import type { MaskReference } from "./mask-reference.ts";

type OutsideMaskProps = {
  /** URLs of the image before and after the edit. */
  original: string;
  result: string;
  mask: MaskReference;
};

export function OutsideMask({ original, result, mask }: OutsideMaskProps) {
  const { data, error } = useQuery({
    queryKey: ["pixels", original, result, mask],
    queryFn: () => measure({ original, result, mask }),
    staleTime: Number.POSITIVE_INFINITY,
  });
  if (error) return <Notice kind="warn" title={text.pixels.unreadable} />;
  if (data === undefined) return <Notice kind="info" title={text.pixels.counting} />;
  if (data === null) return <Notice kind="info" title={text.pixels.otherSize} />;
  const { outside, inside, outsideTotal } = data;
  return (
    <Notice kind={outside === 0 ? "ok" : "warn"} title={text.pixels.outside(outside)}>
      {text.pixels.counts(inside, outsideTotal)}
    </Notice>
  );
}

/** Null if the images differ in size. */
async function measure({ original, result, mask }: OutsideMaskProps) {
  const [first, second] = await Promise.all([loadPixels(original), loadPixels(result)]);
  const values = await loadMaskValues(await findMaskUrl(mask), first);
  return countChangedPixels(first, second, values) ?? null;
}

async function findMaskUrl(mask: MaskReference): Promise<string> {
  if ("url" in mask) return mask.url;
  const { outputs } = await client.runs.get(mask.runId);
  const output = outputs[mask.outputIndex];
  if (!output) throw new Error(`Run ${mask.runId} has no mask`);
  return output.url;
}
