// Reads the EXIF orientation and nothing else. It reads one list of entries and follows no pointers, so a crafted file
// cannot cause a loop.

const orientationTag = 0x0112;
const entryBytes = 12;

/** 1 to 8. 1 if the metadata is absent, damaged or has no orientation. */
export const exifOrientation = (exif: Uint8Array): number => {
  const hasPrefix = Buffer.from(exif.subarray(0, 6)).toString("latin1") === "Exif\0\0";
  const tiff = hasPrefix ? exif.subarray(6) : exif;
  try {
    return readOrientation(new DataView(tiff.buffer, tiff.byteOffset, tiff.byteLength));
  } catch {
    return 1;
  }
};

const readOrientation = (tiff: DataView): number => {
  const order = tiff.getUint16(0);
  const isLittle = order === 0x4949;
  if ((!isLittle && order !== 0x4d4d) || tiff.getUint16(2, isLittle) !== 42) return 1;
  const first = tiff.getUint32(4, isLittle);
  const count = tiff.getUint16(first, isLittle);
  for (let entry = first + 2; entry < first + 2 + count * entryBytes; entry += entryBytes) {
    if (tiff.getUint16(entry, isLittle) !== orientationTag) continue;
    const value = tiff.getUint16(entry + 8, isLittle);
    return value >= 1 && value <= 8 ? value : 1;
  }
  return 1;
};
