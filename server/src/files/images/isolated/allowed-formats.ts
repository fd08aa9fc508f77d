// Restricts the decoder library to JPEG, PNG and WebP. Every process that decodes imports this file first.
import sharp from "sharp";

sharp.block({ operation: ["VipsForeignLoad"] });
sharp.unblock({ operation: ["VipsForeignLoadJpeg", "VipsForeignLoadPng", "VipsForeignLoadWebp"] });
sharp.cache(false);
// One thread per image has the best throughput for many small images.
sharp.concurrency(1);
