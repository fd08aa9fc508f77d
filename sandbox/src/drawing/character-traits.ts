// The traits of a character: a person dressed in the colours of a reference image, always the same for the same image.
import { colourName } from "../vision/colour-names.ts";
import { colourShares } from "../vision/dominant.ts";
import { downscaleForSearch, findRegions } from "../vision/find-objects.ts";
import { flattenOnWhite, readSource } from "../vision/pixels.ts";
import { type Traits, traitsFrom } from "./person.ts";
import { createSeededRandom } from "./seeded-random.ts";

/** Analysed at a small size, so that a copy of the image in another format gives the same person. */
const lookSide = 160;

/** The colours of the main object of the reference, or of the whole image if there is none. */
const wornColours = async (reference: Buffer) => {
  const { small, labs } = await downscaleForSearch(flattenOnWhite(await readSource(reference, lookSide)));
  const [main] = findRegions(small, labs);
  const least = small.width * small.height * 0.02;
  const isWorn = main && main.area > least ? (pixel: number) => main.cells[pixel] === 1 : () => true;
  const shares = colourShares(small, isWorn);
  // A saturated colour is more characteristic than a large grey area.
  const weight = ({ lab, share }: (typeof shares)[number]) => share * (0.25 + Math.hypot(lab[1], lab[2]) * 6);
  return shares.sort((one, other) => weight(other) - weight(one)).slice(0, 4);
};

export const traitsFromReference = async (reference: Buffer): Promise<Traits> => {
  const shares = await wornColours(reference);
  const names = shares.slice(0, 3).map(({ lab }) => colourName(lab));
  return traitsFrom(
    shares.map(({ hex }) => hex),
    createSeededRandom(`person in ${names.join(" ")}`),
  );
};

/** Without a reference the prompt and the seed decide. */
export const traitsFromPrompt = (prompt: string, seed: number): Traits =>
  traitsFrom([], createSeededRandom(`person ${prompt} ${seed}`));
