// The limits of an offer in words.
import type { OfferLimits } from "@gesso/client";
import { text } from "../text/text.ts";

const formatCount = (count: number) => count.toLocaleString("en");
const formatMegapixels = (pixels: number) => (pixels / 1e6).toLocaleString("en", { maximumFractionDigits: 1 });

export function describeOfferLimits(limits: OfferLimits): string[] {
  const { ratios, sizes, sides, durations, duration, count, images, mask, prompt, source } = limits;
  const words = text.models.limit;
  return [
    ratios && words.ratios(ratios),
    sizes && words.sizes(sizes),
    ...(sides ? describeSides(sides) : []),
    durations && words.durations(durations),
    duration && words.duration(duration.least, duration.most),
    count !== undefined && words.count(count),
    images !== undefined && words.images(images),
    mask === false && words.noMask,
    prompt !== undefined && words.prompt(formatCount(prompt)),
    source?.most_pixels !== undefined && words.source(formatMegapixels(source.most_pixels)),
    source?.most_masked_pixels !== undefined && words.masked(formatMegapixels(source.most_masked_pixels)),
  ].filter((each) => typeof each === "string");
}

function describeSides(sides: NonNullable<OfferLimits["sides"]>): (string | false)[] {
  const { least, most, step, most_pixels: pixels } = sides;
  const words = text.models.limit;
  return [
    least !== undefined && most !== undefined && words.sides(formatCount(least), formatCount(most)),
    least !== undefined && most === undefined && words.sidesFrom(formatCount(least)),
    least === undefined && most !== undefined && words.sidesTo(formatCount(most)),
    step !== undefined && step > 1 && words.step(step),
    pixels !== undefined && words.pixels(formatMegapixels(pixels)),
  ];
}
