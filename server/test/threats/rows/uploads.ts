// Threats by uploaded and fetched files.
import type { ThreatSection } from "../threat.ts";

const IMAGES = "server/test/scenarios/untrusted-images.test.ts";
const DECODER = "server/src/files/images/image-decoder.test.ts";
const FORMS = "server/test/scenarios/malformed-requests.test.ts";

export const uploads: ThreatSection = {
  title: "Uploads and media",
  threats: [
    {
      id: "T41",
      asset: "memory",
      entry: "uploaded and fetched images",
      threat: "a small file decodes to gigabytes of pixels",
      control:
        "the header is read first; at most 50 megapixels and 16,384 pixels per side; decoders have a memory limit",
      kind: "control and test",
      tests: {
        [IMAGES]: [
          "has each decompression bomb refused within 200 ms",
          "survives fifty concurrent decompression bombs: no restart, and cheap requests are hardly slower",
        ],
      },
    },
    {
      id: "T42",
      asset: "memory",
      entry: "uploaded and fetched images",
      threat: "a header declares a size that the file does not have",
      control: "the declared size is refused before decoding; fewer pixels than declared are refused",
      kind: "control and test",
      tests: {
        [DECODER]: [
          "a JPEG that declares 65,500 x 65,500 is refused",
          "a PNG with fewer pixels than its header declares",
        ],
      },
    },
    {
      id: "T43",
      asset: "memory",
      entry: "metadata of images",
      threat: "compressed metadata expands to hundreds of megabytes",
      control: "decompressed metadata is bounded while it is read",
      kind: "control and test",
      tests: {
        [DECODER]: ["a colour profile that decompresses without end"],
        "server/src/files/images/image-decoder-normalize.test.ts": [
          "that decompresses without end is refused, and a small amount of it is removed",
        ],
      },
    },
    {
      id: "T44",
      asset: "workers",
      entry: "image decoders",
      threat: "uses a known fault of a decoder for a rare format, or of an old library",
      control:
        "only the loaders of JPEG, PNG and WebP are enabled; Gesso does not start with libvips below 8.18; decoders run in restricted processes",
      kind: "control and test",
      tests: {
        "server/src/files/images/library-version.test.ts": [
          "names a decoding library that is too old or unknown, and no other",
        ],
        "server/test/threats/image-payloads.test.ts": [
          "the decoding library in use is one that the server starts with",
        ],
        [DECODER]: ["415 unsupported_image_format", "other formats are also disabled in the decoder itself"],
        "server/src/files/images/decoder-pool.test.ts": [
          "that dies fails only its image: the next one is decoded by another process",
        ],
      },
    },
    {
      id: "T45",
      asset: "users of browsers",
      entry: "uploads",
      threat: "uploads SVG, HTML or XML with a script or an external entity",
      control: "the content decides the format; only three formats are accepted",
      kind: "control and test",
      tests: { [IMAGES]: ["gets the expected response for each file, and a rejected file stores nothing"] },
    },
    {
      id: "T46",
      asset: "users",
      entry: "downloads",
      threat: "a file is an image and something else at once",
      control:
        "only the segments of a PNG, JPEG or WebP are stored; data after its end is removed; results in other formats are stored " +
        "as they are and served with their own type, in a sandbox without scripts",
      kind: "control and test",
      tests: {
        [IMAGES]: [
          "results in sRGB images without metadata, trailing bytes or scripts",
          "leaves none of its payloads in storage",
        ],
      },
    },
    {
      id: "T47",
      asset: "users of browsers",
      entry: "downloads",
      threat: "a browser takes a file for a page",
      control: "the type comes from the content; `nosniff` and a sandbox without scripts on every file response",
      kind: "control and test",
      tests: {
        "server/test/scenarios/file-urls.test.ts": [
          "has its exact type, and headers that allow a browser only to display it",
          "has the same headers for every method and range",
          "that is refused has the same security headers",
        ],
      },
    },
    {
      id: "T48",
      asset: "files",
      entry: "file names and names of form parts",
      threat: "a name leaves its folder, overwrites a file or names a device",
      control: "names of objects are made by the server; a file name is only text",
      kind: "control and test",
      tests: { [FORMS]: ["can have any file name: it is never a path, and no name is refused"] },
    },
    {
      id: "T49",
      asset: "privacy",
      entry: "uploads",
      threat: "the position and serial number of a camera are published with a photo",
      control: "metadata is removed; the orientation is applied",
      kind: "control and test",
      tests: {
        [IMAGES]: [
          "results in sRGB images without metadata, trailing bytes or scripts",
          "turns all eight orientations upright",
        ],
        "server/src/files/images/image-decoder-normalize.test.ts": [
          "is removed from a %s, and the pixels stay identical",
        ],
      },
    },
    {
      id: "T50",
      asset: "memory",
      entry: "uploads",
      threat: "an animation has thousands of frames",
      control: "animated images are refused by their structure",
      kind: "control and test",
      tests: {
        [DECODER]: ["an animated PNG is refused, one with a single frame is not", "an animated WebP is refused"],
      },
    },
    {
      id: "T51",
      asset: "stability",
      entry: "uploads",
      threat: "a damaged file crashes the server",
      control: "damage is an error of the catalogue",
      kind: "control and test",
      tests: {
        [IMAGES]: ["responds to damaged images with an error of the catalogue, never with a 5xx"],
        [DECODER]: ["damage to any byte causes at most a fault"],
      },
    },
    {
      id: "T52",
      asset: "memory",
      entry: "forms",
      threat: "a form has thousands of parts, huge names, no boundary or nested parts",
      control: "limits for fields, files, names and values",
      kind: "control and test",
      tests: {
        [FORMS]: [
          "with too many parts, or with too large names or values, are refused at little cost",
          "without a boundary, with an empty body, nested or truncated are refused",
        ],
      },
    },
    {
      id: "T53",
      asset: "availability",
      entry: "uploads",
      threat: "many connections send one byte per second",
      control: "headers must arrive within 10 s and bodies at 4 KiB/s",
      kind: "control and test",
      tests: {
        "server/test/scenarios/slow-uploads.test.ts": [
          "are cut off with an error, store nothing, and let other requests through",
        ],
      },
    },
    {
      id: "T54",
      asset: "disk, memory",
      entry: "uploads, files to verify",
      threat: "a body exceeds the limit, its length is wrong or absent, or many large files arrive at once",
      control:
        "refused by the declared length before it is read, and cut off at the limit while it streams; the bytes of all forms on disk and of the files in memory are bounded, and tenants take turns",
      kind: "control and test",
      tests: {
        [FORMS]: [
          "are refused by their declared length, before they are sent",
          "are cut off while they stream, and nothing is stored",
        ],
        "server/test/conformance/size-limits.test.ts": ["[LIM-038] may have 25 MiB and not a byte more"],
        "server/src/http/read-request.test.ts": [
          "A form for which there is no space is refused while it arrives, and one of another tenant is accepted",
          "A form counts until its files are deleted, and a refused one does not",
        ],
        "server/src/runs/sources/file-turns.test.ts": [
          "Files that fit into memory together begin at once, and others when there is space again",
          "A tenant with one file waits for one file of a tenant that sent many, not for all of them",
        ],
      },
    },
    {
      id: "T55",
      asset: "memory",
      entry: "request bodies",
      threat: "a compressed body expands without end",
      control: "bodies with a content encoding are refused",
      kind: "control and test",
      tests: { [FORMS]: ["are rejected with a content encoding"] },
    },
    {
      id: "T56",
      asset: "memory",
      entry: "base64 fields",
      threat: "a field has tens of megabytes, a wrong alphabet, or data of another type",
      control: "the decoded size is bounded, and the bytes must be an image",
      kind: "control and test",
      tests: {
        "server/test/conformance/size-limits.test.ts": [
          "[LIM-044] with an image in base64 may have more than 1 MiB, and at most 35 MiB",
        ],
        "server/test/conformance/http-request-bodies.test.ts": [
          "[GNL-014] accept raw base64 that decodes to an image as the image itself",
        ],
      },
    },
    {
      id: "T57",
      asset: "data of tenants",
      entry: "fields that accept a run, a URL or base64",
      threat: "a value is read as another kind than the one that was checked",
      control: "one ordered rule: UUID, then URL, then data URL, then raw base64 of an image",
      kind: "control and test",
      tests: {
        "server/test/conformance/http-request-bodies.test.ts": [
          "[GNL-011] read a UUID as a run of one's own, and as nothing where there is none",
          "[GNL-012] read what begins with http:// or https:// as an address that is fetched",
          "[GNL-014] accept raw base64 that decodes to an image as the image itself",
        ],
      },
    },
    {
      id: "T58",
      asset: "correctness",
      entry: "masks",
      threat: "a mask has another size, depth or format than expected",
      control: "masks become 8-bit greyscale in the size of their image; a mask of another shape is refused",
      kind: "control and test",
      tests: {
        "server/src/files/images/isolated/normalize-mask.test.ts": [
          "are reduced from 16 to 8 bits",
          "can have a palette",
          "a damaged mask is distinguished from an internal error",
          "are scaled with hard edges if they are black and white",
        ],
        "server/src/runs/sources/check-mask.test.ts": ["may have another size than its image, but not another shape"],
      },
    },
    {
      id: "T59",
      asset: "files",
      entry: "archives",
      threat: "an archive writes outside its folder or expands without end",
      control: "no operation accepts archives",
      kind: "control and test",
      tests: { [IMAGES]: ["gets the expected response for each file, and a rejected file stores nothing"] },
    },
    {
      id: "T60",
      asset: "workers",
      entry: "model files",
      threat: "weights contain code that runs when they are loaded",
      control: "no operation accepts weights; a custom model is a name that the operator's backend knows",
      kind: "control and test",
      tests: { [IMAGES]: ["gets the expected response for each file, and a rejected file stores nothing"] },
    },
    {
      id: "T61",
      asset: "storage",
      entry: "uploads",
      threat: "a tenant fills the storage",
      control: "a quota for each tenant, checked in the transaction of the upload",
      kind: "control and test",
      tests: {
        "server/test/scenarios/storage-quota.test.ts": [
          "is never exceeded by … uploads at once, and refused files are not stored",
        ],
      },
    },
    {
      id: "T62",
      asset: "users",
      entry: "uploads",
      threat: "known malware is stored inside an image",
      control: "everything that is not part of the image is removed",
      kind: "control and test",
      tests: {
        "server/test/threats/image-payloads.test.ts": [
          "malware in the text, a comment or the end of an image is absent from the stored object",
        ],
      },
    },
  ],
};
