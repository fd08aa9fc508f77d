// Which readers of pictures are open in this process: the three formats we take, and nothing else. Importing it is
// enough; every process that decodes does so first.
import sharp from "sharp";

sharp.block({ operation: ["VipsForeignLoad"] });
sharp.unblock({ operation: ["VipsForeignLoadJpeg", "VipsForeignLoadPng", "VipsForeignLoadWebp"] });
sharp.cache(false);
// Many small pictures at once are our load, and one thread each wastes the least on them.
sharp.concurrency(1);
