import { endOfToken, malformed, readParameters } from './upload/disposition-parameters.ts';

/** The parsed Content-Disposition of a part. Names are decoded and in NFC. `filename` contains no path. */
export interface PartDisposition {
  readonly name: string;
  /** Undefined for a plain field, which has no filename. Empty for a file field without a chosen file. */
  readonly filename: string | undefined;
}

const controls = /[\u0000-\u001f\u007f-\u009f]/;

/**
 * Parses `form-data; name="…"; filename="…"; filename*=UTF-8''…`. Each character of `value` is one received byte
 * (latin1). Source: RFC 7578 §4.2, RFC 8187, and the escapes of the WHATWG form encoding (`%22`, `%0D`, `%0A`).
 */
export function parseDisposition(value: string): PartDisposition {
  const endOfType = endOfToken(value, 0);
  if (value.slice(0, endOfType).toLowerCase() !== 'form-data') throw malformed('a part is not form-data');
  const parameters = readParameters(value, endOfType);
  const rawName = parameters.get('name');
  if (rawName === undefined) throw malformed('a part has no name');
  const extended = parameters.get('filename*');
  const plain = parameters.get('filename');
  const filename = extended === undefined ? decodeOptional(plain) : decodeExtended(extended);
  const name = decodePlain(rawName);
  if (controls.test(name) || (filename !== undefined && controls.test(filename))) {
    throw malformed('a name holds a control character');
  }
  return { name, filename: filename === undefined ? undefined : withoutPath(filename).normalize('NFC') };
}

function decodeOptional(value: string | undefined): string | undefined {
  return value === undefined ? undefined : decodePlain(value);
}

/**
 * Decodes UTF-8, or Latin-1 of old browsers if the bytes are not UTF-8. Then it decodes the escapes of the WHATWG form
 * encoding.
 */
function decodePlain(value: string): string {
  const bytes = Buffer.from(value, 'latin1');
  return decode(bytes).replace(/%(22|0d|0a)/gi, (_match, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
}

function decode(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return new TextDecoder('latin1').decode(bytes);
  }
}

function decodeExtended(value: string): string {
  const match = /^(utf-8|iso-8859-1)'[A-Za-z0-9-]*'((?:%[0-9A-Fa-f]{2}|[!#$&+.^_`|~0-9A-Za-z-])*)$/i.exec(value);
  if (match === null) throw malformed('filename* is not charset, quote, language, quote, percent-encoded text');
  const bytes = Buffer.from(
    (match[2] ?? '').replace(/%(..)/g, (_match, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
    'latin1',
  );
  if (match[1]?.toLowerCase() === 'iso-8859-1') return new TextDecoder('latin1').decode(bytes);
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw malformed('filename* is not UTF-8');
  }
}

/** Removes the path that some clients send: the name follows the last slash or backslash. */
function withoutPath(name: string): string {
  return name.slice(Math.max(name.lastIndexOf('/'), name.lastIndexOf('\\')) + 1);
}

/**
 * Returns the header of a download: `attachment` with an ASCII name for old clients and the actual name. No character
 * of the name can end the header or the quotes. Source: RFC 6266.
 */
export function attachment(name: string): string {
  const ascii = name.replace(/[^\x20-\x7e]|["\\%]/g, '_');
  const encoded = encodeURIComponent(name.toWellFormed()).replace(
    /['()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return `attachment; filename="${ascii}"; filename*=UTF-8''${encoded}`;
}
