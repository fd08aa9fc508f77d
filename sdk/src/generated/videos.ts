// Printed by `npm run generate` from the code; never edited by hand.
import { callRun, type RunOperation } from "../call.ts";
import type { Connection } from "../connection.ts";
import { boolean, inline, integer, like, number, object, one, text, uuid, words } from "../fields.ts";
import type { ImageSource } from "../sources.ts";
import type { RunFields, Video } from "./shapes.ts";

/** What `generateVideo` takes. */
export type GenerateVideoInput = RunFields & {
  /** What happens in the video */
  prompt?: string;
  /** What the video must not show */
  negative_prompt?: string;
  /** The image that it begins with */
  image_url?: ImageSource;
  /** The run whose image it begins with; it becomes the parent */
  source_run_id?: string;
  /** Shape of the video. Default "16:9" */
  aspect_ratio?: string;
  /** Seconds. 1 to 60. Default 3 */
  duration?: number;
  /** The same seed gives the same picture. 0 to 4294967295 */
  seed?: number;
  /** Higher follows the prompt more closely. 0 to 30 */
  cfg_scale?: number;
  /** How much moves. 1 to 255 */
  motion_bucket_id?: number;
  /** Frames per second. 1 to 60 */
  fps?: number;
};

/** The operations `generateVideo`. */
export type Videos = {
  /**
   * Make a video that begins with an image.
   * - Give exactly one of image_url, source_run_id.
   * @example await client.generateVideo({ image_url: "https://example.com/beach.png", prompt: "waves roll in", duration: 2 })
   */
  generateVideo: RunOperation<GenerateVideoInput, Video>;
};

/**
 * The operations of this group on a connection of their own.
 * @example const videos = videosOf(connect({ baseUrl, apiKey }))
 */
export function videosOf(connection: Connection): Videos {
  const run = { sync: boolean, routing: words("preferred", "cheapest", "fastest"), max_cost: number(0, 1000000), webhook_url: text(1, 2048, "^https?:\\/\\/\\S+$"), webhook_secret: text(), metadata: object };
  return {
    generateVideo: callRun(connection, {
      name: "generateVideo",
      path: "/api/v1/runs/video",
      bodies: "json",
      creates: true,
      fields: { prompt: text(1, 8000), negative_prompt: text(0, 8000), image_url: inline, source_run_id: uuid, aspect_ratio: like("^[1-9]\\d?:[1-9]\\d?$"), duration: number(1, 60), seed: integer(0, 4294967295), cfg_scale: number(0, 30), motion_bucket_id: integer(1, 255), fps: integer(1, 60), ...run },
      rules: [one("image_url", "source_run_id")],
    }),
  } as unknown as Videos;
}
