// The words of a run in a tree: what it did, and its prompt.
import type { RunNode } from "@gesso/client";
import { text } from "../text/text.ts";

export const runTypeName = (runType: string): string => text.runPage.runTypes[runType] ?? runType;

export const nodeTitle = (node: Pick<RunNode, "deleted" | "run_type">): string =>
  node.deleted ? text.runPage.tree.deleted : runTypeName(node.run_type);

/** The second line: the prompt, or the model of a run without one. */
export const nodeSubtitle = (node: Pick<RunNode, "deleted" | "prompt" | "model">): string =>
  node.deleted ? text.runPage.tree.keepsCost : (node.prompt ?? node.model ?? "");

export const imageOfNode = ({
  thumbnails,
  image_url,
  deleted,
}: Pick<RunNode, "thumbnails" | "image_url" | "deleted">) =>
  deleted ? undefined : (thumbnails?.small ?? image_url ?? undefined);
