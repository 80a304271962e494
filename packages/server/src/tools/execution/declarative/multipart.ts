import { createHash } from 'node:crypto';

/** One part of a `multipart/form-data` body (RFC 7578): a field, or a file when it has a file name and a type. */
export interface MultipartPart {
  readonly name: string;
  readonly content: Uint8Array;
  readonly filename?: string;
  readonly type?: string;
}

/**
 * Writes the body and its content type. The boundary is a digest of the parts, so the same input gives the same body and
 * recordings can be matched. No content can hold the digest of itself.
 */
export function writeMultipart(parts: readonly MultipartPart[]): {
  readonly body: Uint8Array;
  readonly headers: Readonly<Record<string, string>>;
} {
  const heads = parts.map(headOf);
  const hash = createHash('sha256');
  for (const [index, { content }] of parts.entries()) hash.update(heads[index] ?? '').update(content);
  const boundary = `quartermaster-${hash.digest('hex').slice(0, 40)}`;
  const chunks = parts.flatMap(({ content }, index) => [
    Buffer.from(`--${boundary}\r\n${heads[index]}\r\n\r\n`),
    content,
    Buffer.from('\r\n'),
  ]);
  return {
    body: Buffer.concat([...chunks, Buffer.from(`--${boundary}--\r\n`)]),
    headers: { 'content-type': `multipart/form-data; boundary=${boundary}` },
  };
}

function headOf({ name, filename, type }: MultipartPart): string {
  const file = filename === undefined ? '' : `; filename="${escaped(filename)}"`;
  const kind = type === undefined ? '' : `\r\nContent-Type: ${type.replace(/[^\x20-\x7e]/g, '')}`;
  return `Content-Disposition: form-data; name="${escaped(name)}"${file}${kind}`;
}

/** Percent-encodes the characters that would end the name or the line, as browsers do. */
function escaped(text: string): string {
  return text.toWellFormed().replace(/["\r\n]/g, (character) => encodeURIComponent(character));
}
