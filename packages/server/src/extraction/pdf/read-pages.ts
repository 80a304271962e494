import { getHeapStatistics } from 'node:v8';
import { type OpenPdf, pdfiumCode } from './open-pdf.ts';
import type { PageThread } from './page-thread.ts';
import { createSegmentReader, type PageSegments } from './read-segments.ts';
import type { PageJob } from './read-share.ts';
import { residentBytes } from './resident-bytes.ts';

/** Shorter documents are read before another thread has opened them. */
const fewestPages = 24;

/**
 * Reads all pages; those of a long document with the help of a thread. Which of the two reads a page is left to chance:
 * it says the same to both. Null stands for a page that is broken.
 */
export async function readPages(
  pdf: OpenPdf,
  { bytes, onPage, thread }: { bytes: Uint8Array; onPage: (percent: number) => void; thread: PageThread | undefined },
): Promise<readonly (PageSegments | null)[]> {
  const { numPages } = pdf;
  const reader = createSegmentReader(pdf);
  const pages = new Array<PageSegments | null | undefined>(numPages).fill(undefined);
  const job = await toJob(bytes, numPages);
  const others = thread?.isThere() === true && isWorthIt(job) ? thread.read(job) : [];
  try {
    for (let index = Atomics.add(job.next, 0, 1); index < numPages; index = Atomics.add(job.next, 0, 1)) {
      pages[index] = reader.read(index);
      onPage(Math.floor(((index + 1) * 100) / numPages));
    }
  } finally {
    Atomics.store(job.next, 0, numPages);
  }
  // A thread that took no page is not waited for.
  if (pages.includes(undefined)) for (const [index, page] of await others) pages[index] = page;
  return pages.map((page, index) => (page === undefined ? reader.read(index) : page));
}

async function toJob(bytes: Uint8Array, numPages: number): Promise<PageJob> {
  const next = new Int32Array(new SharedArrayBuffer(4));
  return { bytes, numPages, next, code: await pdfiumCode(), mostMemoryBytes: getHeapStatistics().heap_size_limit / 2 };
}

/** The thread holds a document twice, as its caller does: as it came, and in the memory of PDFium. */
function isWorthIt({ bytes, numPages, mostMemoryBytes }: PageJob): boolean {
  return numPages >= fewestPages && residentBytes() + 2 * bytes.length < mostMemoryBytes;
}
