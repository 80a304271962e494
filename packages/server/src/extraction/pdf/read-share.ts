import { printToLog, readNoMoreFiles } from '../confine.ts';
import { openPdf } from './open-pdf.ts';
import { createSegmentReader, type PageSegments } from './read-segments.ts';
import { residentBytes } from './resident-bytes.ts';

/** A document whose pages two threads read; travels to the other one. */
export interface PageJob {
  readonly bytes: Uint8Array;
  /** PDFium, compiled. */
  readonly code: object;
  readonly numPages: number;
  /** The page to be read next, from 0: whoever reads it has added one first. Shared. */
  readonly next: Int32Array;
  /** When the process holds more, the thread ends. */
  readonly mostMemoryBytes: number;
}

/** Null when the page is broken. */
export type ReadPage = readonly [index: number, page: PageSegments | null];

// All of its program is there now.
readNoMoreFiles();
printToLog();

/** What the other thread does for a document. A page that breaks PDFium ends it: whoever asked meets that page himself. */
export async function readShare(job: PageJob): Promise<readonly ReadPage[]> {
  const { bytes, code, numPages, next, mostMemoryBytes } = job;
  const read: ReadPage[] = [];
  if (Atomics.load(next, 0) >= numPages) return read;
  try {
    const pdf = await openPdf(bytes, code);
    const reader = createSegmentReader(pdf);
    for (let index = Atomics.add(next, 0, 1); index < numPages; index = Atomics.add(next, 0, 1)) {
      // The end of a thread gives its memory back at once. To ask takes as long as a tenth of a page.
      if (read.length % 10 === 0 && residentBytes() > mostMemoryBytes) process.exit();
      read.push([index, reader.read(index)]);
    }
    pdf.close();
  } catch {
    // Whatever is wrong with the document, the other thread meets it too, and says so.
  }
  return read;
}
