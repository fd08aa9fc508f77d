// The share of pixels that differ between two images of one size.
import { useQuery } from "@tanstack/react-query";
import { countChangedPixels } from "../pixels/changed-pixels.ts";
import { loadPixels } from "../pixels/load-pixels.ts";
import { text } from "../text/text.ts";

export function PixelsChanged({ first, second }: { first: string; second: string }) {
  const { data, error } = useQuery({
    queryKey: ["pixels", "changed", first, second],
    queryFn: () => count(first, second),
    staleTime: Number.POSITIVE_INFINITY,
  });
  if (error) return <p>{text.pixels.unreadable}</p>;
  if (data === undefined) return <p>{text.pixels.counting}</p>;
  if (data === null) return <p>{text.pixels.otherSize}</p>;
  return <p className="numeric">{text.compare.pixelShare(shareText(data), data.outside.toLocaleString("en"))}</p>;
}

const shareText = ({ outside, outsideTotal }: { outside: number; outsideTotal: number }) =>
  `${((outside / outsideTotal) * 100).toFixed(1)} %`;

async function count(first: string, second: string) {
  const [one, other] = await Promise.all([loadPixels(first), loadPixels(second)]);
  return countChangedPixels(one, other) ?? null;
}
