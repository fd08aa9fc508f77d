// Draws the person that a prompt names: standing in the scene, or head and shoulders as a portrait.
import { knoll } from "./figures.ts";
import { drawPerson, traitsFrom } from "./person.ts";
import type { SceneContext } from "./scene-context.ts";
import type { ScenePrompt } from "./scene-prompt.ts";

export const drawNamedPerson = ({ person, figures, scene }: ScenePrompt, stage: SceneContext, top?: string): string => {
  if (!person) return "";
  const { width, height, unit } = stage;
  const traits = traitsFrom(top && figures.length === 0 ? [top] : [], stage.chance.fork("person"));
  if (person === "portrait")
    return drawPerson(traits, { x: width / 2, foot: height * 0.42 + unit * 1.22, height: unit * 1.6 }, "rest", {
      isShaded: true,
    });
  // Beside figures, the person stands to the left of them.
  const foot = height * 0.84;
  const ground = figures.length > 0 || scene === "studio" ? "" : knoll(stage, foot - height * 0.025);
  return ground + drawPerson(traits, { x: width * (figures.length ? 0.24 : 0.56), foot, height: unit * 0.6 }, "wave");
};
