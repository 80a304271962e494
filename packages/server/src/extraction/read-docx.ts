import mammoth from 'mammoth';
import type { Document } from './document.ts';
import { createHtmlBlocks } from './html-blocks.ts';
import { openPackage } from './open-package.ts';
import { fileDamaged } from './unreadable.ts';

/** Word document to HTML to blocks. Only the checked XML parts reach mammoth: no images, nothing outside of the file. */
export async function readDocx(bytes: Uint8Array): Promise<Document> {
  const parts = openPackage(bytes, 'docx');
  const { html, messages } = await convert(parts.repack());
  const reader = createHtmlBlocks();
  reader.write(html.replaceAll(/<a href="#(?:foot|end)note-ref-\d+">↑<\/a>/g, ''));
  return { blocks: reader.end(), facts: {}, warnings: messages };
}

async function convert(bytes: Uint8Array): Promise<{ html: string; messages: string[] }> {
  try {
    const result = await mammoth.convertToHtml(
      { buffer: Buffer.from(bytes) },
      { convertImage: mammoth.images.imgElement(async () => ({ src: '' })), externalFileAccess: false },
    );
    const errors = result.messages.filter((message) => message.type === 'error');
    return { html: result.value, messages: errors.slice(0, 20).map((message) => message.message) };
  } catch (cause) {
    throw fileDamaged('Word', 'its parts do not fit together', cause);
  }
}
