// The few colours that an image is mostly made of, the largest share first.
import { distance, type Lab, labAt, labsOf } from "./lab.ts";
import { downscale, type Pixels, readSource } from "./pixels.ts";

export type ColourShare = { lab: Lab; hex: string; share: number };

type Group = { lab: Lab; red: number; green: number; blue: number; count: number };

const lookSide = 96;
const apart = 0.09;

const hexOf = ({ red, green, blue, count }: Group): string =>
  `#${[red, green, blue]
    .map((sum) =>
      Math.round(sum / count)
        .toString(16)
        .padStart(2, "0"),
    )
    .join("")}`;

/** Groups the pixels for which `counts` holds; colours nearer than `apart` are one. */
export const colourShares = (pixels: Pixels, counts: (pixel: number) => boolean = () => true): ColourShare[] => {
  const labs = labsOf(pixels);
  const groups: Group[] = [];
  let total = 0;
  for (let pixel = 0; pixel < pixels.width * pixels.height; pixel += 1) {
    if (!counts(pixel)) continue;
    total += 1;
    const lab = labAt(labs, pixel);
    let group = groups.find((known) => distance(known.lab, lab) < apart);
    if (!group) {
      group = { lab, red: 0, green: 0, blue: 0, count: 0 };
      groups.push(group);
    }
    group.red += pixels.rgb[pixel * 3]!;
    group.green += pixels.rgb[pixel * 3 + 1]!;
    group.blue += pixels.rgb[pixel * 3 + 2]!;
    group.count += 1;
  }
  return groups
    .sort((one, other) => other.count - one.count)
    .map((group) => ({ lab: group.lab, hex: hexOf(group), share: group.count / total }));
};

export const dominantColours = async (image: Buffer, most: number): Promise<string[]> =>
  colourShares(await downscale(await readSource(image, 512), lookSide))
    .slice(0, most)
    .map(({ hex }) => hex);
