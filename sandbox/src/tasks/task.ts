// What a kind of work must say about itself. A new one is a file beside this one and a line in the list.
import type { JobRequest, KeptRequest } from "../request.ts";

type Output = { media_type: string; extension: string; width: number; height: number };

type Order = {
  request: KeptRequest;
  seed: number;
  /** Which of the outputs of one request, from 0. */
  index: number;
  /** The images of the request, then its mask if it has one. */
  inputs(): Promise<Buffer[]>;
};

export type Task = {
  name: string;
  /** What is wrong with the request, or nothing. */
  complaint(request: JobRequest): string | undefined;
  /** What the job will give; known without drawing anything. */
  outputs(request: KeptRequest): Output[];
  /** Pure in its order: the same order gives the same bytes. */
  draw(order: Order): Promise<Buffer>;
};
