/** The first bytes of the formats that an extension names, as hexadecimal; `.` is any digit. Source: the specification of each format. */
const signatures: Readonly<Record<string, RegExp>> = {
  '.png': /^89504e470d0a1a0a/,
  '.jpg': /^ffd8ff/,
  '.jpeg': /^ffd8ff/,
  '.gif': /^47494638/,
  '.webp': /^52494646.{8}57454250/,
  '.bmp': /^424d/,
  '.avif': /^.{8}6674797061766966/,
  '.heic': /^.{8}66747970(?:68656963|6d696631)/,
  '.pdf': /^255044462d/,
  '.zip': /^504b0304/,
  '.docx': /^504b0304/,
  '.xlsx': /^504b0304/,
  '.pptx': /^504b0304/,
  '.gz': /^1f8b08/,
  '.mp3': /^(?:494433|ff[ef])/,
  '.wav': /^52494646.{8}57415645/,
  '.ogg': /^4f676753/,
  '.mp4': /^.{8}66747970/,
  '.m4a': /^.{8}66747970/,
  '.webm': /^1a45dfa3/,
};
/** The bytes that a signature is compared with. */
const signatureBytes = 16;
const svg = '.svg';

/** Whether files with this extension have a format that is not JSON. */
export function isMediaExtension(extension: string): boolean {
  return extension === svg || Object.hasOwn(signatures, extension);
}

/**
 * Finds the first text of an output that is the base64 or the `data:` URL of a format, or an SVG picture. The service leaves
 * content in the output when it cannot store an artifact.
 * @param extension in lower case, such as `.png`
 */
export function findInlineMedia(output: unknown, extension: string): Buffer<ArrayBuffer> | undefined {
  for (const text of textsOf(output)) {
    const bytes = extension === svg ? readSvg(text) : readBase64(text, extension);
    if (bytes !== undefined) return bytes;
  }
  return undefined;
}

/** A longer text of an output that was written to a file is cut where the output is printed. */
const mostPrinted = 500;

/** Cuts the long texts of an output, which a file has in full. */
export function cutTexts(output: unknown): unknown {
  const text = JSON.stringify(output, (_, value) =>
    typeof value === 'string' && value.length > mostPrinted
      ? `${value.slice(0, 60)}… (${value.length} characters)`
      : value,
  );
  return text === undefined ? undefined : JSON.parse(text);
}

/** The texts of a JSON value. A stack instead of recursion: an output may be nested deeply. */
function* textsOf(output: unknown): Generator<string> {
  const open = [output];
  while (open.length > 0) {
    const value = open.pop();
    if (typeof value === 'string') yield value;
    else if (typeof value === 'object' && value !== null)
      for (const each of Object.values(value).reverse()) open.push(each);
  }
}

function readSvg(text: string): Buffer<ArrayBuffer> | undefined {
  if (text.startsWith('data:image/svg+xml')) {
    const bytes = decode(text);
    return bytes === undefined ? undefined : readSvg(bytes.toString());
  }
  const start = text.slice(0, 2048).trimStart();
  return /^<(?:svg|\?xml|!--|!DOCTYPE svg)[\s>-]/.test(start) && start.includes('<svg') ? Buffer.from(text) : undefined;
}

function readBase64(text: string, extension: string): Buffer<ArrayBuffer> | undefined {
  const [, start = ''] = /^(?:data:[^,]{0,512},)?([\w+/-]{16,64})/.exec(text.slice(0, 600)) ?? [];
  const bytes = Buffer.from(start, 'base64').subarray(0, signatureBytes);
  return signatures[extension]?.test(bytes.toString('hex')) === true ? decode(text) : undefined;
}

/** Undefined unless the text, after the head of a `data:` URL, is base64, with or without padding and line breaks. */
function decode(text: string): Buffer<ArrayBuffer> | undefined {
  const content = text.startsWith('data:') ? text.slice(text.indexOf(',') + 1) : text;
  const base64 = content.replace(/\s/g, '');
  return /^[\w+/-]+={0,2}$/.test(base64) ? Buffer.from(base64, 'base64') : undefined;
}
