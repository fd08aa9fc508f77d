// The tools of the mask and what each does with a stroke on the image.
import { floodFill } from "./flood-fill.ts";
import { clipRectangle, fillRectangle, type Mask, type PixelRectangle } from "./mask.ts";
import type { MaskDocument } from "./mask-document.ts";
import { fillPolygon, type Point } from "./polygon.ts";
import { paintSegment, type StrokePoint } from "./stroke.ts";

export const TOOLS = ["brush", "eraser", "lasso", "rectangle", "fill", "move"] as const;
export type ToolName = (typeof TOOLS)[number];

/** A position on the image with the share of the brush's radius, which the pressure of a pen gives. */
export type ToolPoint = Point & { pressure: number };

/** A stroke in progress. `outline` is what the stage draws until it ends. */
export type ToolStroke = {
  add(point: ToolPoint): void;
  end(): void;
  outline(): readonly Point[];
};

export type ToolBrush = { size: number; hardness: number };

const NO_OUTLINE: readonly Point[] = [];

export function startToolStroke(
  document: MaskDocument,
  { tool, brush }: { tool: ToolName; brush: ToolBrush },
  start: ToolPoint,
): ToolStroke {
  document.begin();
  if (tool === "brush" || tool === "eraser") return startBrushStroke(document, brush, start, tool === "eraser");
  if (tool === "lasso") return startAreaStroke(document, start, fillLasso);
  if (tool === "rectangle") return startAreaStroke(document, start, fillCorners, cornersOf);
  return { add: () => {}, end: () => tool === "fill" && document.touch(floodFill(document.mask, start)), outline };
}

const outline = () => NO_OUTLINE;

function startBrushStroke(document: MaskDocument, brush: ToolBrush, start: ToolPoint, isEraser: boolean): ToolStroke {
  const tip = { hardness: brush.hardness / 100, isEraser };
  const toStrokePoint = ({ x, y, pressure }: ToolPoint): StrokePoint => ({ x, y, radius: (brush.size / 2) * pressure });
  let last = toStrokePoint(start);
  document.touch(paintSegment(document.mask, last, last, tip));
  return {
    add(point) {
      const next = toStrokePoint(point);
      document.touch(paintSegment(document.mask, last, next, tip));
      last = next;
    },
    end: () => {},
    outline,
  };
}

type FillArea = (mask: Mask, points: readonly Point[]) => PixelRectangle | undefined;

function startAreaStroke(
  document: MaskDocument,
  start: Point,
  fill: FillArea,
  outlineOf: (points: readonly Point[]) => readonly Point[] = (points) => points,
): ToolStroke {
  const points: Point[] = [start];
  return {
    add: (point) => void points.push(point),
    end: () => document.touch(fill(document.mask, points)),
    outline: () => outlineOf(points),
  };
}

const fillLasso: FillArea = (mask, points) => fillPolygon(mask, points, 255);

function cornersOf(points: readonly Point[]): Point[] {
  const [from, to] = [points[0]!, points.at(-1)!];
  return [from, { x: to.x, y: from.y }, to, { x: from.x, y: to.y }];
}

const fillCorners: FillArea = (mask, points) => {
  const [from, to] = [points[0]!, points.at(-1)!];
  const [x, y] = [Math.round(Math.min(from.x, to.x)), Math.round(Math.min(from.y, to.y))];
  const [right, bottom] = [Math.round(Math.max(from.x, to.x)), Math.round(Math.max(from.y, to.y))];
  const area = clipRectangle(mask, { x, y, width: right - x, height: bottom - y });
  if (area) fillRectangle(mask, area, 255);
  return area;
};
