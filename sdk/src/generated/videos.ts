// Printed by `npm run generate` from the code; never edited by hand.
import { callRun, type RunOperation } from "../call.ts";
import type { Connection } from "../connection.ts";
import type { Operation } from "../operation.ts";
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
  /** Wait for the end, at most 55 seconds. Default false */
  sync?: boolean;
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

const GENERATE_VIDEO: Operation = {"name":"generateVideo","method":"POST","path":"/api/v1/runs/video","bodies":["json"],"creates":true,"fields":{"type":"object","properties":{"prompt":{"type":"string","minLength":1,"maxLength":8000},"negative_prompt":{"type":"string","maxLength":8000},"image_url":{"is":"inline"},"source_run_id":{"type":"string","format":"uuid"},"aspect_ratio":{"type":"string","pattern":"^[1-9]\\d?:[1-9]\\d?$"},"duration":{"type":"number","minimum":1,"maximum":60},"seed":{"type":"integer","minimum":0,"maximum":4294967295},"cfg_scale":{"type":"number","minimum":0,"maximum":30},"motion_bucket_id":{"type":"integer","minimum":1,"maximum":255},"fps":{"type":"integer","minimum":1,"maximum":60},"sync":{"type":"boolean"},"webhook_url":{"type":"string","minLength":1,"maxLength":2048,"pattern":"^https?:\\/\\/\\S+$"},"webhook_secret":{"type":"string","minLength":16,"maxLength":255},"metadata":{"type":"object"}}},"rules":[{"oneOf":[{"required":["image_url"]},{"required":["source_run_id"]}]}]};

/**
 * The operations of this group on a connection of their own.
 * @example const videos = videosOf(connect({ baseUrl, apiKey }))
 */
export function videosOf(connection: Connection): Videos {
  return {
    generateVideo: callRun(connection, GENERATE_VIDEO),
  } as unknown as Videos;
}
