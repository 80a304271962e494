import { createHash } from 'node:crypto';
import { createKernel } from './kernel.ts';
import { createKernelHeap } from './kernel-heap.ts';
import { layOut, readCentre, readLayout, readSeqs } from './page-format.ts';
import type { LoadedPage, SearchMemory } from './page-search.ts';

/** A page in memory. */
export interface MemoryPage extends LoadedPage {
  readonly bytes: number;
  /** Questions that use the page, plus 1 while its space has it. */
  users: number;
}

/** The pages in the memory of the kernel. */
export interface PageMemory extends SearchMemory {
  /** The bytes that pages take. */
  readonly bytes: number;
  /** Copies a page. The caller is its first user. */
  load(parts: { readonly scan: Uint8Array; readonly refine: Uint8Array | null }): MemoryPage;
  /** Frees a page after its last user. */
  release(page: MemoryPage): void;
}

/** What a page takes beside its parts, for example in maps. */
const bytesBeside = 512;

export function createPageMemory(): PageMemory {
  const heap = createKernelHeap(Number.POSITIVE_INFINITY);
  let bytes = 0;

  function put(part: Uint8Array): number {
    const address = heap.allocate(part.length);
    if (address === undefined) throw new Error('the memory of vectors is too small for a page');
    new Uint8Array(heap.memory.buffer).set(part, address);
    return address;
  }

  return {
    ...{ heap, kernel: createKernel(heap.memory) },
    get bytes() {
      return bytes;
    },
    load({ scan, refine }) {
      const layout = readLayout({ scan, refine });
      const centre = readCentre(scan);
      const size = sizeOf(layout.dimensions, layout.count) - (refine === null ? layout.refineBytes : 0);
      bytes += size;
      return {
        ...{ layout, centre, bytes: size, users: 1 },
        centreKey: createHash('sha256').update(centre).digest('base64'),
        seqs: readSeqs(scan),
        scan: put(scan),
        refine: refine === null ? null : put(refine),
      };
    },
    release(page) {
      page.users--;
      if (page.users > 0) return;
      heap.free(page.scan);
      if (page.refine !== null) heap.free(page.refine);
      bytes -= page.bytes;
    },
  };
}

/** Returns the bytes of a page with both parts. */
export function sizeOf(dimensions: number, count: number): number {
  const { scanBytes, refineBytes, width } = layOut(dimensions, count);
  return scanBytes + refineBytes + count * 8 + width * 4 + bytesBeside;
}
