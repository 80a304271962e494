import type { ContentBlock } from '@modelcontextprotocol/server';
import type { ExecuteResult } from '@quartermaster/contract';
import { isJsonObject } from '../../platform/json/json-object.ts';

/** A content of an imported MCP server, and its path in the output; undefined for one beside the output. */
export interface PassedBlock {
  readonly block: Readonly<Record<string, unknown>>;
  readonly path: string | undefined;
}

/** The contents that a tool of an imported MCP server returned, in the output or beside a structured output. */
export function contentsOf({ data, contents = [] }: Pick<ExecuteResult, 'data' | 'contents'>): PassedBlock[] {
  const inData: unknown = isJsonObject(data) ? data.content : undefined;
  const blocks: readonly unknown[] = Array.isArray(inData) ? inData : [];
  const passed = blocks.map((block, index) => ({ block, path: `/content/${index}` }));
  return [...passed, ...contents.map((block) => ({ block, path: undefined }))].flatMap(({ block, path }) =>
    isJsonObject(block) ? [{ block, path }] : [],
  );
}

/** A note of the service in place of contents that it has left out; undefined for other contents. Texts of the server are in the output. */
export function readNote({ type, text }: PassedBlock['block']): ContentBlock | undefined {
  return type === 'text' && typeof text === 'string' ? { type, text } : undefined;
}

const longestUri = 2048;

/** The link of a `resource_link`; undefined for other contents. */
export function readLink({ type, uri, name, mimeType }: PassedBlock['block']): ContentBlock | undefined {
  if (type !== 'resource_link' || typeof uri !== 'string' || typeof name !== 'string') return undefined;
  if (uri.length > longestUri || name.length > longestUri) return undefined;
  return { type, uri, name, ...(typeof mimeType === 'string' ? { mimeType } : {}) };
}

export interface EmbeddedResource {
  readonly content: ContentBlock;
  readonly bytes: number;
  readonly mimeType: string | undefined;
  readonly isBlob: boolean;
}

/** An embedded resource, with text or base64; undefined for other contents. */
export function readResource({ type, resource }: PassedBlock['block']): EmbeddedResource | undefined {
  if (type !== 'resource' || !isJsonObject(resource)) return undefined;
  const { uri, mimeType: named, text, blob } = resource;
  if (typeof uri !== 'string' || uri.length > longestUri) return undefined;
  const mimeType = typeof named === 'string' ? named : undefined;
  const about = { uri, ...(mimeType === undefined ? {} : { mimeType }) };
  if (typeof text === 'string') {
    const bytes = Buffer.byteLength(text);
    return { content: { type, resource: { ...about, text } }, bytes, mimeType, isBlob: false };
  }
  // A value that was stored as an artifact no longer contains base64.
  if (typeof blob !== 'string' || !/^[A-Za-z0-9+/]*={0,2}$/.test(blob)) return undefined;
  const bytes = Buffer.byteLength(blob, 'base64');
  return { content: { type, resource: { ...about, blob } }, bytes, mimeType, isBlob: true };
}

/** The bytes of a picture or sound; undefined for other contents. */
export function readMediaBlock({
  type,
  data,
  mimeType,
}: PassedBlock['block']): { mimeType: string; bytes: Buffer } | undefined {
  if ((type !== 'image' && type !== 'audio') || typeof data !== 'string' || typeof mimeType !== 'string')
    return undefined;
  return { mimeType: mimeType.toLowerCase(), bytes: Buffer.from(data, 'base64') };
}
