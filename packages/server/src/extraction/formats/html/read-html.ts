import type { Document } from '../../document.ts';
import { decodeText } from '../../encoding/decode-text.ts';
import { createHtmlBlocks } from './html-blocks.ts';

/** `charset` is that of a Content-Type header. It precedes the declaration in the page. */
export function readHtml(bytes: Uint8Array, charset?: string): Document {
  const { text, facts: encoding, warnings } = decodeText(bytes, [charset, declaredCharset(bytes)]);
  const reader = createHtmlBlocks();
  reader.write(text);
  const { blocks, title, dropped } = reader.end();
  const facts = { ...encoding, ...(title === '' ? {} : { title: title.slice(0, 500) }) };
  return { blocks, facts: { ...facts, dropped: { ...dropped } }, warnings };
}

/** The HTML standard searches the first 1,024 bytes; real pages have the declaration later. */
function declaredCharset(bytes: Uint8Array): string | undefined {
  const start = Buffer.from(bytes.subarray(0, 4096)).toString('latin1').toLowerCase();
  const inXml = /^<\?xml[^<>]*\sencoding\s*=\s*["']([\w:.-]+)/.exec(start)?.[1];
  if (inXml !== undefined) return inXml;
  // A tag contains no `<`, so no byte belongs to two candidates.
  for (const [tag] of start.matchAll(/<meta[^<>]*/g)) {
    const inMeta = /charset\s*=\s*(?:["']\s*)?([\w:.-]+)/.exec(tag)?.[1];
    if (inMeta !== undefined) return inMeta;
  }
  return undefined;
}
