import { createHash } from 'node:crypto';
import type { RequestTemplate } from '@quartermaster/plugin-kit';
import { isJsonObject } from '../../../platform/json/json-object.ts';
import { namedPairs, type Styles } from './styles.ts';
import { absent, compileValue, type Input, type Render } from './template.ts';

/** The body of one request and its content type, or the reason why the input cannot be sent. */
export type Content =
  | { readonly body?: string | Uint8Array; readonly headers?: Readonly<Record<string, string>> }
  | { readonly rejected: string };

type CreateContent = (value: unknown, input: Input) => Content;

/** @throws Error whose message names the invalid member */
export function compileContent(template: RequestTemplate): (input: Input) => Content {
  if (template.body === undefined) return () => ({});
  const render = compileValue(template.body);
  const create = contentCreator(template);
  return (input) => {
    const value = render(input);
    return value === absent ? {} : create(value, input);
  };
}

function contentCreator(template: RequestTemplate): CreateContent {
  const { body, body_type: type, styles } = template;
  if (type === 'base64') return bytesContent;
  if (type === 'form' || type === 'multipart') {
    if (!isJsonObject(body)) throw new Error('request.body: a form must be an object');
    return type === 'form' ? (value) => formContent(value, styles?.form) : compileMultipart(template);
  }
  return (value) => {
    if (type !== 'json' && typeof body === 'string' && typeof value === 'string') {
      return { body: value, headers: { 'content-type': 'text/plain; charset=utf-8' } };
    }
    return { body: JSON.stringify(value), headers: { 'content-type': 'application/json' } };
  };
}

function formContent(value: unknown, styles: Styles | undefined): Content {
  // The template is an object, so the rendered value is an object.
  const pairs = Object.entries(value as object).flatMap(([name, item]) => namedPairs(name, item, styles));
  const body = new URLSearchParams(pairs.map(([name, item]) => [name, item.toWellFormed()])).toString();
  return { body, headers: { 'content-type': 'application/x-www-form-urlencoded' } };
}

const octets = 'application/octet-stream';

function bytesContent(value: unknown): Content {
  const bytes = bytesOf(value);
  return bytes === null ? notBase64('the body') : { body: bytes, headers: { 'content-type': octets } };
}

/** Renders fields as in a form. The fields that `files` names are base64; the decoded bytes are sent. */
function compileMultipart({ files = {}, styles }: RequestTemplate): CreateContent {
  const named = new Map(Object.entries(files).map(([name, file]) => [name, compileFile(file)]));
  return (value, input) => {
    const parts: MultipartPart[] = [];
    // The template is an object, so the rendered value is an object.
    for (const [name, item] of Object.entries(value as object)) {
      const describe = named.get(name);
      if (describe === undefined) {
        const fields = namedPairs(name, item, styles?.form);
        parts.push(...fields.map(([field, text]) => ({ name: field, content: Buffer.from(text.toWellFormed()) })));
        continue;
      }
      for (const one of item === null ? [] : [item].flat()) {
        const content = bytesOf(one);
        if (content === null) return notBase64(name);
        parts.push({ name, content, ...describe(input, name) });
      }
    }
    return writeMultipart(parts);
  };
}

type FileTemplate = NonNullable<RequestTemplate['files']>[string];

function compileFile({ filename, content_type: type }: FileTemplate) {
  const text = (render: Render | undefined, input: Input, otherwise: string): string => {
    const value = render?.(input);
    return typeof value === 'string' && value !== '' ? value : otherwise;
  };
  const [name, kind] = [filename, type].map((one) => (one === undefined ? undefined : compileValue(one)));
  return (input: Input, field: string) => ({ filename: text(name, input, field), type: text(kind, input, octets) });
}

/** Decodes base64 or base64url, with or without padding. null when the value is neither. */
function bytesOf(value: unknown): Buffer | null {
  if (typeof value !== 'string' || !/^[A-Za-z0-9+/_-]*={0,2}$/.test(value)) return null;
  return Buffer.from(value, 'base64');
}

function notBase64(name: string): Content {
  return { rejected: `the value sent as ${name} is not valid base64` };
}

/** One part of a `multipart/form-data` body (RFC 7578): a field, or a file when it has a file name and a type. */
interface MultipartPart {
  readonly name: string;
  readonly content: Uint8Array;
  readonly filename?: string;
  readonly type?: string;
}

/**
 * Writes the body and its content type. The boundary is a digest of the parts, so the same input gives the same body and
 * recordings can be matched. No content can hold the digest of itself.
 */
function writeMultipart(parts: readonly MultipartPart[]): {
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
