// `npm run release -- package`: builds the published package into dist/package, for the image and for a look at it.
import { buildPackage } from "./release/build-package.ts";

buildPackage("dist/package");
console.log("dist/package");
