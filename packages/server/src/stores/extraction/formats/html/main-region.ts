import type { Block } from '../../document.ts';
import type { Region } from './region.ts';

export interface Emitted {
  readonly block: Block;
  readonly region: Region;
  /** The characters outside of links if the block has a sentence. */
  readonly weight: number;
}

/** The share of the sentences that the main region holds. */
const shareOfMain = 0.7;
/** The share of the sentences from which on a region behind the main one belongs to the content. */
const shareBehindMain = 0.05;
const mostLinked = 0.3;

/**
 * Leaves out small regions beside the main region of a page of a site, such as teasers of other pages. Those before it stay if
 * they have a sentence, such as an introduction, unless they consist of links. Dates, captions and tables of an article stay.
 */
export function withoutRemarks(emitted: readonly Emitted[]): readonly Emitted[] {
  const weights = weightsOf(emitted);
  const total = emitted.reduce((sum, { weight }) => sum + weight, 0);
  const main = innermost(weights, total * shareOfMain);
  if (main === undefined) return emitted;
  const besideOf = createBeside(main);
  let isBehind = false;
  return emitted.filter(({ block, region }) => {
    const beside = besideOf(region);
    if (beside === 'within') isBehind = true;
    if (typeof beside === 'string' || (block.kind === 'heading' && block.level === 1)) return true;
    if (beside.inArticle && beside.sentences === 0) return true;
    if (beside.linked > beside.characters * mostLinked) return false;
    const weight = weights.get(beside) ?? 0;
    return isBehind ? weight >= total * shareBehindMain : weight > 0;
  });
}

/** The characters of the sentences in each region. */
function weightsOf(emitted: readonly Emitted[]): ReadonlyMap<Region, number> {
  const weights = new Map<Region, number>();
  for (const { region, weight } of emitted) {
    for (let one: Region | undefined = region; one !== undefined && !weights.has(one); one = one.parent)
      weights.set(one, 0);
    weights.set(region, (weights.get(region) ?? 0) + weight);
  }
  const fromInside = [...weights.keys()].toSorted((a, b) => b.depth - a.depth);
  for (const one of fromInside) {
    if (one.parent !== undefined) weights.set(one.parent, (weights.get(one.parent) ?? 0) + (weights.get(one) ?? 0));
  }
  return weights;
}

/** The innermost region of at least a weight. All regions of more than half of the weight lie in each other. */
function innermost(weights: ReadonlyMap<Region, number>, least: number): Region | undefined {
  let found: Region | undefined;
  for (const [region, weight] of weights) {
    if (weight > 0 && weight >= least && region.depth >= (found?.depth ?? 0)) found = region;
  }
  return found;
}

/** Where a region is: in the main region, in one around it alone, or in a region beside it. */
function createBeside(main: Region): (region: Region) => Region | 'within' | 'around' {
  const places = new Map<Region, Region | 'within' | 'around'>();
  for (let one = main.parent; one !== undefined; one = one.parent) places.set(one, 'around');
  places.set(main, 'within');
  return (region) => {
    const path: Region[] = [];
    let next: Region | undefined = region;
    for (; next !== undefined && !places.has(next); next = next.parent) path.push(next);
    let place = next === undefined ? 'around' : (places.get(next) ?? 'around');
    for (const one of path.toReversed()) {
      if (place === 'around') place = one;
      places.set(one, place);
    }
    return places.get(region) ?? 'around';
  };
}
