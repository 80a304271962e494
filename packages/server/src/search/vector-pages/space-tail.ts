import { encodePage } from './encode-page.ts';
import { type PageBytes, vectorsPerPage } from './page-format.ts';
import type { TailVectors } from './page-protocol.ts';
import type { Rotate } from './rotation.ts';

/** Vectors of a space that are not in stored pages, in pages of the thread. */
export interface SpaceTail {
  add(added: TailVectors): void;
  clear(): void;
}

interface TailPage extends TailVectors {
  readonly address: number;
}

export interface SpaceTailDeps {
  readonly dimensions: number;
  readonly rotate: Rotate;
  /** Returns the centre of a stored page, if there is one. */
  readonly centre: () => Float32Array | undefined;
  /** Puts a page into memory and returns a number that names it. */
  readonly load: (page: PageBytes) => number;
  readonly unload: (name: number) => void;
}

/**
 * Encodes added vectors at once. A page takes those of the page before it while that is not larger, so that there are few
 * pages and a vector is encoded a few times only.
 */
export function createSpaceTail({ dimensions, rotate, centre, load, unload }: SpaceTailDeps): SpaceTail {
  const pages: TailPage[] = [];

  function push({ seqs, vectors }: TailVectors): void {
    const last = pages.at(-1);
    if (last !== undefined && last.seqs.length <= seqs.length && last.seqs.length + seqs.length <= vectorsPerPage) {
      pages.pop();
      unload(last.address);
      push({
        seqs: Float64Array.of(...last.seqs, ...seqs),
        vectors: join(last.vectors, vectors),
      });
      return;
    }
    const page = encodePage({ seqs, vectors, dimensions, rotate, earlierCentre: centre() });
    pages.push({ seqs, vectors, address: load(page) });
  }

  return {
    add({ seqs, vectors }) {
      for (let from = 0; from < seqs.length; from += vectorsPerPage) {
        const to = Math.min(seqs.length, from + vectorsPerPage);
        push({ seqs: seqs.slice(from, to), vectors: vectors.slice(from * dimensions, to * dimensions) });
      }
    },
    clear() {
      for (const { address } of pages.splice(0)) unload(address);
    },
  };
}

function join(first: Float32Array, second: Float32Array): Float32Array {
  const joined = new Float32Array(first.length + second.length);
  joined.set(first);
  joined.set(second, first.length);
  return joined;
}
