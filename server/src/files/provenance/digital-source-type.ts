// Decides what an output is in the vocabulary of IPTC and C2PA: created or edited, by which kind of process, and how
// each source image relates to it. Pure, so that a repeated step describes an output in the same way.
import type { Task } from "../../contract/operation.ts";

const VOCABULARY = "http://cv.iptc.org/newscodes/digitalsourcetype/";

export const DIGITAL_SOURCE_TYPES = {
  /** Made by a trained model. */
  generated: `${VOCABULARY}trainedAlgorithmicMedia`,
  /** An image that a trained model changed in part, or that is composed of such images. */
  partlyGenerated: `${VOCABULARY}compositeWithTrainedAlgorithmicMedia`,
  /** Composed or transformed by a fixed algorithm, from sources that no model of this installation made. */
  composed: `${VOCABULARY}composite`,
} as const;
export type DigitalSourceType = (typeof DIGITAL_SOURCE_TYPES)[keyof typeof DIGITAL_SOURCE_TYPES];

/** A source image of a request. `isResult`: it is the output of a run, or of an earlier job of the same run. */
export type OriginSource = { asset_id: string; media_type: string; usage: "image" | "mask"; isResult: boolean };

export type IngredientRelationship = "parentOf" | "componentOf" | "inputTo";

export type OutputOrigin = {
  action: "c2pa.created" | "c2pa.edited";
  digitalSourceType: DigitalSourceType;
  /** In the order of the sources. */
  relationships: IngredientRelationship[];
};

/** Work on pixels by fixed algorithms. No trained model adds anything. */
const FIXED_ALGORITHMS: readonly Task[] = ["image.resize", "image.combine", "image.cut", "image.blend"];
/** The result shows the first image. Other tasks only look at their images. */
const EDITS: readonly Task[] = [
  ...(["image.edit", "image.remove-background", "image.remove", "image.reframe", "image.upscale"] as const),
  ...(["image.resize", "image.cut", "image.blend"] as const),
];

export function describeOrigin(task: Task | undefined, sources: OriginSource[]): OutputOrigin {
  const images = sources.filter(({ usage }) => usage === "image");
  const isEdit = task !== undefined && EDITS.includes(task) && images.length > 0;
  const relate = (source: OriginSource): IngredientRelationship => {
    if (source.usage === "mask") return "inputTo";
    if (task === "image.combine") return "componentOf";
    return isEdit && source === images[0] ? "parentOf" : "inputTo";
  };
  return {
    action: isEdit ? "c2pa.edited" : "c2pa.created",
    digitalSourceType: sourceTypeOf(task, images),
    relationships: sources.map(relate),
  };
}

function sourceTypeOf(task: Task | undefined, images: OriginSource[]): DigitalSourceType {
  if (task !== undefined && FIXED_ALGORITHMS.includes(task))
    return images.some(({ isResult }) => isResult)
      ? DIGITAL_SOURCE_TYPES.partlyGenerated
      : DIGITAL_SOURCE_TYPES.composed;
  const isPartial = task !== undefined && EDITS.includes(task) && images.length > 0;
  return isPartial ? DIGITAL_SOURCE_TYPES.partlyGenerated : DIGITAL_SOURCE_TYPES.generated;
}
