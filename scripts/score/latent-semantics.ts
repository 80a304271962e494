/** Turns a text into a vector of unit length. Equal texts have equal vectors. */
export type EmbedText = (text: string) => Float64Array;

/** The dimensions of the texts' meaning, and those that unknown features share. */
const ranks = { known: 100, unknown: 28 } as const;

/**
 * Learns a latent-semantic model: TF-IDF over words and their parts, reduced by a singular value decomposition. Texts of
 * several languages about the same matter are given as one text, so the model compares texts across languages. Unknown
 * words keep their share of the length, so a question about other matters is near to nothing.
 * Source: Deerwester et al., "Indexing by Latent Semantic Analysis", 1990.
 */
export function learnLatentSemantics(texts: readonly string[]): EmbedText {
  const counted = texts.map(countFeatures);
  const frequencies = new Map<string, number>();
  for (const feature of counted.flatMap((counts) => [...counts.keys()])) {
    frequencies.set(feature, (frequencies.get(feature) ?? 0) + 1);
  }
  const rarity = (feature: string) => Math.log((texts.length + 1) / (frequencies.get(feature) ?? 1));
  const weigh = (counts: ReadonlyMap<string, number>) =>
    [...counts].map(([feature, count]) => [feature, (1 + Math.log(count)) * rarity(feature)] as const);

  const postings = new Map<string, Array<readonly [place: number, weight: number]>>();
  for (const [place, counts] of counted.entries()) {
    const weights = weigh(counts);
    const length = lengthOf(weights);
    for (const [feature, weight] of weights) {
      const list = postings.get(feature) ?? [];
      list.push([place, weight / length]);
      postings.set(feature, list);
    }
  }
  /** Returns the products of known features with all texts of the model. */
  function compare(weights: ReadonlyArray<readonly [string, number]>): Float64Array {
    const products = new Float64Array(texts.length);
    for (const [feature, weight] of weights) {
      for (const [place, other] of postings.get(feature) ?? []) products[place] = at(products, place) + weight * other;
    }
    return products;
  }
  const axes = findAxes(counted.map((counts) => scale(compare(weigh(counts)), 1 / lengthOf(weigh(counts)))));

  return (text) => {
    const weights = weigh(countFeatures(text));
    const known = weights.filter(([feature]) => frequencies.has(feature));
    const unknown = weights.filter(([feature]) => !frequencies.has(feature));
    const products = compare(known);
    const meaning = Float64Array.from(axes, (axis) =>
      axis.reduce((sum, value, place) => sum + value * at(products, place), 0),
    );
    const rest = new Float64Array(ranks.unknown);
    for (const [feature, weight] of unknown) {
      const place = hash(feature) % rest.length;
      rest[place] = at(rest, place) + weight;
    }
    const all = lengthOf(weights) || 1;
    const parts = [
      scale(meaning, lengthOf(known) / all / (Math.hypot(...meaning) || 1)),
      scale(rest, lengthOf(unknown) / all / (Math.hypot(...rest) || 1)),
    ];
    return Float64Array.from(parts.flatMap((part) => [...part]));
  };
}

const segmenter = new Intl.Segmenter('en', { granularity: 'word' });
const lettersOfPart = 4;

/** Counts the words of a text and, of longer words, their parts of four letters, which inflected forms share. */
function countFeatures(text: string): Map<string, number> {
  const counts = new Map<string, number>();
  const add = (feature: string) => counts.set(feature, (counts.get(feature) ?? 0) + 1);
  for (const { segment, isWordLike } of segmenter.segment(text.normalize('NFKC').toLowerCase())) {
    if (isWordLike !== true) continue;
    add(segment);
    const letters = [...segment];
    for (let from = 0; from + lettersOfPart < letters.length; from++) {
      add(`~${letters.slice(from, from + lettersOfPart).join('')}`);
    }
  }
  return counts;
}

/** Returns the axes onto which products are projected: the largest eigenvectors, each divided by the root of its value. */
function findAxes(products: readonly Float64Array[]): Float64Array[] {
  const { values, vectors } = decompose(products);
  return values
    .map((value, column) => ({ value, axis: Float64Array.from(vectors, (row) => at(row, column)) }))
    .sort((a, b) => b.value - a.value)
    .slice(0, ranks.known)
    .filter(({ value }) => value > 1e-9)
    .map(({ value, axis }) => scale(axis, 1 / Math.sqrt(value)));
}

/** Returns the eigenvalues and the eigenvectors, as columns, of a symmetric matrix by the cyclic Jacobi method. */
function decompose(matrix: readonly Float64Array[]): { values: number[]; vectors: Float64Array[] } {
  const a = matrix.map((row) => Float64Array.from(row));
  const vectors = a.map((_, row) => Float64Array.from(a, (__, column) => (row === column ? 1 : 0)));
  const entry = (row: number, column: number) => at(a[row] ?? new Float64Array(), column);
  let rest = Number.POSITIVE_INFINITY;
  for (let sweep = 0; sweep < 30 && rest > 1e-9; sweep++) {
    rest = 0;
    for (let p = 0; p < a.length; p++) {
      for (let q = p + 1; q < a.length; q++) {
        const off = entry(p, q);
        rest += Math.abs(off);
        if (Math.abs(off) < 1e-15) continue;
        const theta = (entry(q, q) - entry(p, p)) / (2 * off);
        const tangent = (theta < 0 ? -1 : 1) / (Math.abs(theta) + Math.hypot(theta, 1));
        rotate(a, vectors, { p, q, cosine: 1 / Math.hypot(tangent, 1), sine: tangent / Math.hypot(tangent, 1) });
      }
    }
  }
  return { values: a.map((row, place) => at(row, place)), vectors };
}

interface Rotation {
  readonly p: number;
  readonly q: number;
  readonly cosine: number;
  readonly sine: number;
}

function rotate(a: readonly Float64Array[], vectors: readonly Float64Array[], { p, q, cosine, sine }: Rotation): void {
  for (const row of [...a, ...vectors]) {
    const [left, right] = [at(row, p), at(row, q)];
    row[p] = cosine * left - sine * right;
    row[q] = sine * left + cosine * right;
  }
  const [upper = new Float64Array(), lower = new Float64Array()] = [a[p], a[q]];
  for (let column = 0; column < upper.length; column++) {
    const [left, right] = [at(upper, column), at(lower, column)];
    upper[column] = cosine * left - sine * right;
    lower[column] = sine * left + cosine * right;
  }
}

const at = (values: Float64Array, place: number) => values[place] ?? 0;
const scale = (values: Float64Array, factor: number) => values.map((value) => value * factor);
const lengthOf = (weights: ReadonlyArray<readonly [string, number]>) =>
  Math.hypot(...weights.map(([, weight]) => weight));

/** FNV-1a over code points. */
function hash(text: string): number {
  let value = 2166136261;
  for (const letter of text) value = Math.imul(value ^ (letter.codePointAt(0) ?? 0), 16777619) >>> 0;
  return value;
}
