import type { Block } from '../document.ts';

/**
 * Returns the description of a picture in brackets, with blanks around it; empty for a description that says nothing,
 * such as the name of a file, or of a button: a few words of a page.
 */
export function pictureText(description: string, fewestWords = 3): string {
  const text = description.replace(/\s+/g, ' ').trim();
  if (/\.(?:png|jpe?g|gif|svg|webp|bmp|tiff?|emf|wmf)$/i.test(text)) return '';
  if (text === '') return '';
  const words = text.split(' ').length;
  // Chinese and Japanese have no blanks between words.
  const isSentence = words >= fewestWords || /[\u3040-\u9fff]{4}/.test(text) || /\\/.test(text);
  return isSentence ? ` [${text}] ` : '';
}

/** Removes blocks that are the description of a picture, if the block before or after, such as a caption, contains it. */
export function withoutRepeatedPictures(blocks: readonly Block[]): Block[] {
  return blocks.filter(({ text }, at) => {
    const description = /^\[([^\]]+)\]$/.exec(text)?.[1]?.toLowerCase();
    if (description === undefined) return true;
    return [blocks[at - 1], blocks[at + 1]].every((near) => near?.text.toLowerCase().includes(description) !== true);
  });
}

/** The warning that counts pictures whose words are missing; none for no pictures. @param why a sentence */
export function picturesNotRead(count: number, why: string): string[] {
  if (count === 0) return [];
  const counted = count === 1 ? 'One picture of the document was' : `${count} pictures of the document were`;
  return [`pictures_not_read: ${counted} not read. ${why}`];
}
