// Runs the samples of the second half of the pages.
import { testSamples } from "./page-samples.ts";

testSamples((path) => path >= "docs/guide/p");
