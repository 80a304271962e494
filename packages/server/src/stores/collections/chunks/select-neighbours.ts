import type { SelectedHits } from '../../search/query/select-hits.ts';
import type { Neighbour } from './chunk-repository.ts';

export interface SelectedNeighbours {
  /** In the order of the record. */
  readonly before: readonly number[];
  readonly after: readonly number[];
  readonly omitted: number;
}

/**
 * Selects the neighbours of results that fit: the nearest of each result first, in the order of the results. Those of one result
 * have no gap, so one that does not fit also excludes the ones behind it.
 * @param seqs the results, best first
 */
export function selectNeighbours(
  seqs: readonly number[],
  neighbours: readonly Neighbour[],
  left: SelectedHits<unknown>['left'],
): ReadonlyMap<number, SelectedNeighbours> {
  const places = new Map(seqs.map((seq, place) => [seq, place]));
  const placeOf = ({ of }: Neighbour) => places.get(of) ?? 0;
  const nearestFirst = neighbours.toSorted(
    (a, b) => Math.abs(a.offset) - Math.abs(b.offset) || placeOf(a) - placeOf(b) || a.offset - b.offset,
  );
  const selected = new Map(seqs.map((seq) => [seq, { before: [] as number[], after: [] as number[], omitted: 0 }]));
  const ended = new Set<string>();
  let { tokens, weight } = left;
  for (const { of, seq, offset, ...size } of nearestFirst) {
    const group = selected.get(of);
    if (group === undefined) continue;
    const direction = `${of} ${Math.sign(offset)}`;
    if (ended.has(direction) || size.numTokens > tokens || size.weight > weight) {
      ended.add(direction);
      group.omitted += 1;
      continue;
    }
    tokens -= size.numTokens;
    weight -= size.weight;
    if (offset < 0) group.before.unshift(seq);
    else group.after.push(seq);
  }
  return selected;
}
