import type { Encode } from './encoder.ts';
import { type PageBytes, vectorsPerPage } from './page-format.ts';
import type { NewPage, VectorRow } from './vector-page-repository.ts';

/** Encodes the rows that have a vector. */
export async function encodePages(
  encode: Encode,
  { dimensions, rows, earlier }: { dimensions: number; rows: readonly VectorRow[]; earlier: Uint8Array | null },
): Promise<NewPage[]> {
  const withVector = rows.flatMap(({ seq, vector }) => (vector?.length === dimensions ? [{ seq, vector }] : []));
  const encoded: NewPage[] = [];
  for (let from = 0; from < withVector.length; from += vectorsPerPage) {
    const part = withVector.slice(from, from + vectorsPerPage);
    const vectors = new Float32Array(part.length * dimensions);
    for (const [place, { vector }] of part.entries()) vectors.set(vector, place * dimensions);
    const seqs = Float64Array.from(part, ({ seq }) => seq);
    const page: PageBytes = await encode({ seqs, vectors, dimensions, earlier: encoded.at(-1)?.scan ?? earlier });
    encoded.push({ ...page, count: part.length });
  }
  return encoded;
}
