import { readFile } from 'node:fs/promises';
import { fileDamaged } from '../../extraction-error.ts';
import { grayPart, mostDecodedPixels, type PictureFile, toGrayRow } from './picture.ts';

const damaged = (detail: string, cause?: unknown) => fileDamaged('WebP', detail, cause);

/**
 * Reads a WebP picture. Its size is checked before libwebp, in WebAssembly, decodes it.
 * @throws ExtractionError when it is damaged or animated
 */
export async function readWebp(bytes: Uint8Array): Promise<PictureFile> {
  const { width, height } = readSize(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length));
  const page = { width, height, dpi: undefined, rotate: 0 } as const;
  if (width * height > mostDecodedPixels) return { pages: [{ ...page, parts: [] }], warnings: [] };
  const decoded = await decode(bytes);
  if (decoded.width !== width || decoded.height !== height)
    throw damaged('its pixels have another size than its header');
  const gray = Buffer.allocUnsafeSlow(width * height);
  const layout = { depth: 8, channels: 4, color: 'rgb', alpha: 3 } as const;
  for (let y = 0; y < height; y += 1)
    toGrayRow(decoded.data.subarray(y * width * 4), width, layout, { target: gray, start: y * width, step: 1 });
  return { pages: [{ ...page, parts: [grayPart(width, height, gray)] }], warnings: [] };
}

function readSize(file: Buffer): { width: number; height: number } {
  if (file.toString('latin1', 0, 4) !== 'RIFF' || file.toString('latin1', 8, 12) !== 'WEBP' || file.length < 30)
    throw damaged('it has no WebP header');
  const kind = file.toString('latin1', 12, 16);
  if (kind === 'VP8X') {
    if (((file[20] ?? 0) & 2) !== 0) throw damaged('it is animated');
    return { width: file.readUIntLE(24, 3) + 1, height: file.readUIntLE(27, 3) + 1 };
  }
  if (kind === 'VP8L') {
    const size = file.readUInt32LE(21);
    return { width: (size & 0x3fff) + 1, height: ((size >> 14) & 0x3fff) + 1 };
  }
  if (kind === 'VP8 ') return { width: file.readUInt16LE(26) & 0x3fff, height: file.readUInt16LE(28) & 0x3fff };
  throw damaged('its first part is unknown');
}

interface Decoded {
  readonly width: number;
  readonly height: number;
  readonly data: Uint8Array;
}

/** The types of the package need those of a browser. */
interface DecoderModule {
  readonly default: (options: object) => Promise<{ decode(bytes: Uint8Array): Decoded | null }>;
}

/** TypeScript declares WebAssembly only in its DOM library. */
const { WebAssembly } = globalThis as unknown as {
  WebAssembly: {
    readonly Module: new (code: Uint8Array) => object;
    readonly Instance: new (code: object, imports: object) => { readonly exports: object };
  };
};

/** Compiled once for all pictures. */
let code: object | undefined;

/** Each picture gets a new instance, so that corrupted memory cannot affect the next document. */
async function decode(bytes: Uint8Array): Promise<Decoded> {
  code ??= new WebAssembly.Module(
    await readFile(new URL(import.meta.resolve('@jsquash/webp/codec/dec/webp_dec.wasm'))),
  );
  const compiled = code;
  const glue = (await import(import.meta.resolve('@jsquash/webp/codec/dec/webp_dec.js'))) as DecoderModule;
  const instantiateWasm = (imports: object, onInstance: (instance: object) => void) => {
    const instance = new WebAssembly.Instance(compiled, imports);
    onInstance(instance);
    return instance.exports;
  };
  const decoder = await glue.default({ noInitialRun: true, instantiateWasm });
  let decoded: Decoded | null;
  try {
    decoded = decoder.decode(bytes);
  } catch (cause) {
    throw damaged('it cannot be decoded', cause);
  }
  if (decoded === null) throw damaged('it cannot be decoded');
  return decoded;
}
