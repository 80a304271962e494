import { execFileSync, spawnSync } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Placed, pdfOf } from '../packages/server/src/extraction/documents.fixture.ts';
import { openPdf } from '../packages/server/src/extraction/pdf/open-pdf.ts';
import { readPdf } from '../packages/server/src/extraction/read-pdf.ts';
import { createText } from './real-words.ts';
import type { Row } from './table.ts';

const pages = 300;
const rounds = 7;
const wordsOfLine = 14;
const wanted = 0.5;

/** Text and structure of 300 full pages, in a process that has read one before; beside `pdftotext`, which gives text. */
export async function pdfBenches(folder: string): Promise<Row[]> {
  await mkdir(folder, { recursive: true });
  const file = join(folder, 'pages.pdf');
  const bytes = madeOfPages();
  await writeFile(file, bytes);
  const characters = (await readPdf(bytes)).blocks.reduce((sum, { text }) => sum + text.length, 0);
  const about = { bench: `PDF text, ${pages} pages, ${(characters / 1e6).toFixed(1)} million characters` };
  if (spawnSync('pdftotext', ['-v']).error !== undefined) {
    const ours = await timed(() => readPdf(bytes));
    const bar = 'not measured: no pdftotext (apt-get install poppler-utils)';
    return [{ ...about, ours: `${perSecond(ours)} pages/s`, floor: '', bar, met: false }];
  }
  const pairs: Array<{ ours: number; floor: number }> = [];
  for (let round = 0; round < rounds; round++) {
    const floor = await timed(() => execFileSync('pdftotext', [file, join(folder, 'pages.txt')]));
    pairs.push({ ours: await timed(() => readPdf(bytes)), floor });
  }
  const ratio = (pair: { ours: number; floor: number }) => pair.floor / pair.ours;
  const median = pairs.sort((a, b) => ratio(a) - ratio(b))[Math.floor(rounds / 2)] ?? { ours: 1, floor: 1 };
  return [
    {
      ...about,
      ours: `${perSecond(median.ours)} pages/s`,
      floor: `pdftotext ${perSecond(median.floor)} pages/s, PDFium alone ${perSecond(await timed(() => loadPages(bytes)))}`,
      bar: `≥ ${wanted} of it: ${ratio(median).toFixed(2)}`,
      met: ratio(median) >= wanted,
    },
  ];
}

/** What PDFium takes before it is asked for anything: no reader of ours can be faster. */
async function loadPages(bytes: Uint8Array): Promise<void> {
  const { pdfium, document, numPages, close } = await openPdf(bytes);
  for (let index = 0; index < numPages; index += 1) {
    const page = pdfium.FPDF_LoadPage(document, index);
    pdfium.FPDFText_ClosePage(pdfium.FPDFText_LoadPage(page));
    pdfium.FPDF_ClosePage(page);
  }
  close();
}

/** Seconds. */
async function timed(act: () => unknown): Promise<number> {
  const started = performance.now();
  await act();
  return (performance.now() - started) / 1000;
}

const perSecond = (seconds: number) => (pages / seconds).toFixed(0);

function madeOfPages(): Buffer {
  const text = createText();
  const pageOf = (page: number): Placed[] => {
    const lines: Placed[] = [{ x: 60, y: 770, text: 'A running head', size: 8 }];
    for (let y = 740; y > 60; y -= 14) lines.push({ x: 60, y, text: text(wordsOfLine) });
    return [...lines, { x: 300, y: 30, text: String(page), size: 8 }];
  };
  return pdfOf(Array.from({ length: pages }, (_, index) => pageOf(index + 1)));
}
