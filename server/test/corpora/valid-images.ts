// Valid images, one of each variant that the code distinguishes, all 64 x 48.
import sharp from "sharp";

export const noiseImage = (width: number, height: number) =>
  sharp({
    create: { width, height, channels: 3, background: "#888", noise: { type: "gaussian", mean: 128, sigma: 30 } },
  });
export const validImages = {
  jpeg: await noiseImage(64, 48).jpeg().toBuffer(),
  progressive: await noiseImage(64, 48).jpeg({ progressive: true }).toBuffer(),
  cmyk: await noiseImage(64, 48).toColourspace("cmyk").jpeg().toBuffer(),
  png: await noiseImage(64, 48).png().toBuffer(),
  palette: await noiseImage(64, 48).png({ palette: true }).toBuffer(),
  deep: await noiseImage(64, 48).toColourspace("rgb16").png().toBuffer(),
  interlaced: await noiseImage(64, 48).png({ progressive: true }).toBuffer(),
  webp: await noiseImage(64, 48).webp().toBuffer(),
  lossless: await noiseImage(64, 48).webp({ lossless: true }).toBuffer(),
  transparent: await noiseImage(64, 48).ensureAlpha(0.5).webp().toBuffer(),
};
export const validImageCases = Object.entries(validImages);
