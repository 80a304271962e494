import { execFileSync, spawnSync } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { openPdf } from '../packages/server/src/extraction/formats/pdf/open-pdf.ts';
import { readPdf } from '../packages/server/src/extraction/formats/pdf/read-pdf.ts';
import { type Placed, pdfOf } from '../packages/server/src/extraction/formats/testing/documents.fixture.ts';
import { createText } from './real-words.ts';
import type { Row } from './table.ts';

const pages = 300;
const rounds = 7;
const wordsOfLine = 14;
const wanted = 0.35;

/**
 * Measures text and structure of 300 full pages in a process that has already read one such document, like the children
 * of the server. The floor is `pdftotext`, which extracts text only.
 */
export async function pdfBenches(folder: string): Promise<Row[]> {
  await mkdir(folder, { recursive: true });
  const file = join(folder, 'pages.pdf');
  const bytes = createPages();
  await writeFile(file, bytes);
  const read = () => readPdf(bytes);
  const { blocks } = await read();
  const characters = blocks.reduce((sum, { text }) => sum + text.length, 0);
  const about = { bench: `PDF text, ${pages} pages, ${(characters / 1e6).toFixed(1)} million characters` };
  if (spawnSync('pdftotext', ['-v']).error !== undefined) {
    const bar = 'not measured: no pdftotext (apt-get install poppler-utils)';
    return [{ ...about, ours: `${perSecond((await timed(read)).seconds)} pages/s`, floor: '', bar, met: false }];
  }
  const rows: Round[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const floor = await timed(() => execFileSync('pdftotext', [file, join(folder, 'pages.txt')]));
    rows.push({ floor, ours: await timed(read) });
  }
  return [{ ...about, ...summary(rows, await timed(() => loadPages(bytes))) }];
}

interface Timed {
  readonly seconds: number;
  /** Processor time of this process with all its threads. */
  readonly processorSeconds: number;
}

interface Round {
  readonly floor: Timed;
  readonly ours: Timed;
}

function summary(rows: readonly Round[], bare: Timed): Pick<Row, 'ours' | 'floor' | 'bar' | 'met'> {
  const median = (of: (row: Round) => number) => rows.map(of).sort((a, b) => a - b)[rows.length >> 1] ?? Number.NaN;
  const rate = (of: (row: Round) => Timed) => perSecond(median((row) => of(row).seconds));
  const processor = (of: (row: Round) => Timed) => (1000 * median((row) => of(row).processorSeconds)).toFixed(0);
  const ratio = median(({ floor, ours }) => floor.seconds / ours.seconds);
  return {
    ours: `${rate((row) => row.ours)} pages/s, ${processor((row) => row.ours)} ms of processor`,
    floor: `pdftotext ${rate((row) => row.floor)} pages/s, PDFium alone ${perSecond(bare.seconds)}`,
    bar: `≥ ${wanted} of it: ${ratio.toFixed(2)}`,
    met: ratio >= wanted,
  };
}

/** Measures the time that PDFium needs to load the pages. No reader based on it can be faster. */
async function loadPages(bytes: Uint8Array): Promise<void> {
  const { pdfium, document, numPages, close } = await openPdf(bytes);
  for (let index = 0; index < numPages; index += 1) {
    const page = pdfium.FPDF_LoadPage(document, index);
    pdfium.FPDFText_ClosePage(pdfium.FPDFText_LoadPage(page));
    pdfium.FPDF_ClosePage(page);
  }
  close();
}

async function timed(act: () => unknown): Promise<Timed> {
  const used = process.cpuUsage();
  const started = performance.now();
  await act();
  const seconds = (performance.now() - started) / 1000;
  const { user, system } = process.cpuUsage(used);
  return { seconds, processorSeconds: (user + system) / 1e6 };
}

const perSecond = (seconds: number) => (pages / seconds).toFixed(0);

function createPages(): Buffer {
  const text = createText();
  const pageOf = (page: number): Placed[] => {
    const lines: Placed[] = [{ x: 60, y: 770, text: 'A running head', size: 8 }];
    for (let y = 740; y > 60; y -= 14) lines.push({ x: 60, y, text: text(wordsOfLine) });
    return [...lines, { x: 300, y: 30, text: String(page), size: 8 }];
  };
  return pdfOf(Array.from({ length: pages }, (_, index) => pageOf(index + 1)));
}
