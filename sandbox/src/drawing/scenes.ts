// The list of compositions an image can have.
import { city } from "./scenes/city.ts";
import { desert } from "./scenes/desert.ts";
import { forest } from "./scenes/forest.ts";
import { hills } from "./scenes/hills.ts";
import { meadow } from "./scenes/meadow.ts";
import { mountains } from "./scenes/mountains.ts";
import { ribbons } from "./scenes/ribbons.ts";
import { sea } from "./scenes/sea.ts";
import { shapes } from "./scenes/shapes.ts";
import { space } from "./scenes/space.ts";
import { studio } from "./scenes/studio.ts";
import { underwater } from "./scenes/underwater.ts";

export const scenes = {
  mountains,
  hills,
  sea,
  forest,
  city,
  desert,
  meadow,
  space,
  studio,
  underwater,
  shapes,
  ribbons,
};

export type SceneName = keyof typeof scenes;
