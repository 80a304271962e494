import { decodeText } from './decode-text.ts';
import type { Document } from './document.ts';
import { createHtmlBlocks } from './html-blocks.ts';

/** `charset` is that of a Content-Type header; the declaration inside of the page comes after it. */
export function readHtml(bytes: Uint8Array, charset?: string): Document {
  const { text, encoding, confidence } = decodeText(bytes, [charset, declaredCharset(bytes)]);
  const reader = createHtmlBlocks();
  reader.write(text);
  const { blocks, title, dropped } = reader.end();
  const facts = { encoding, encoding_confidence: confidence, ...(title === '' ? {} : { title: title.slice(0, 500) }) };
  return { blocks, facts: { ...facts, dropped: { ...dropped } }, warnings: [] };
}

const declaration =
  /<meta[^>]{0,200}charset\s*=\s*["']?\s*([\w:.-]{1,40})|^<\?xml[^>]{0,100}encoding\s*=\s*["']([\w:.-]{1,40})/i;

/** The HTML standard looks for it in the first 1,024 bytes; real pages have it later. */
function declaredCharset(bytes: Uint8Array): string | undefined {
  const match = declaration.exec(Buffer.from(bytes.subarray(0, 4096)).toString('latin1'));
  return match?.[1] ?? match?.[2];
}
