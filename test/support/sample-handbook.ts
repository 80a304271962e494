import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { wordDocument } from './sample-office.ts';
import { textPdf } from './sample-pdf.ts';
import { longHandbook } from './sample-texts.ts';

/** Documents of a library: a PDF with several pages, a Word document and Markdown. */
export const handbook: ReadonlyArray<{ readonly name: string; readonly bytes: Buffer }> = [
  { name: 'library-handbook.pdf', bytes: textPdf(pagesOf(longHandbook().replace(/[#`-]/g, ''))) },
  {
    name: 'house-rules.docx',
    bytes: wordDocument([
      '# House rules',
      'Bags stay in the lockers of the entrance hall. The key is given back at the desk in the evening.',
      '# Dogs',
      'Dogs may come along on a leash, but not into the reading room.',
    ]),
  },
  {
    name: 'questions-of-visitors.md',
    bytes: Buffer.from(`# Questions of visitors

## How does one pronounce Quartermaster?

One pronounces it KWOR-ter-mah-ster. The stress is on the first syllable.

## Who may borrow recordings?

Everybody with a card. Recordings are lent for two weeks.
`),
  },
];

function pagesOf(text: string): string[][] {
  const words = text.split(/\s+/);
  const lines: string[] = ['Library handbook'];
  for (const word of words) {
    const last = lines.at(-1) ?? '';
    if (last.length + word.length > 90) lines.push(word);
    else lines[lines.length - 1] = `${last} ${word}`.trim();
  }
  const pages: string[][] = [];
  for (let at = 0; at < lines.length; at += 45) pages.push(lines.slice(at, at + 45));
  return pages;
}

/** Writes the documents into a temporary folder. Returns their paths and a function that removes the folder. */
export async function writeHandbook(): Promise<{ paths: string[]; remove: () => Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), 'quartermaster-handbook-'));
  const paths = await Promise.all(
    handbook.map(async ({ name, bytes }) => {
      await writeFile(join(folder, name), bytes);
      return join(folder, name);
    }),
  );
  return { paths, remove: () => rm(folder, { recursive: true, force: true }) };
}
