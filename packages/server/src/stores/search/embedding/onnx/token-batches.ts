/** The part of a tokenizer in use. */
export interface TextTokenizer {
  encode(text: string, options: { add_special_tokens: boolean }): { readonly ids: readonly number[] };
}

/** Texts that the model processes together. */
export interface TokenBatch {
  /** The indexes of the texts in the list. */
  readonly places: readonly number[];
  readonly ids: ReadonlyArray<readonly number[]>;
  /** The number of tokens of the longest text. */
  readonly length: number;
}

/** The maximum number of tokens of one batch, including padding. A small model takes half a second on one core. */
const maxBatchTokens = 2048;
/** More characters than an average token has in any language. Longer texts are truncated before they are tokenized. */
const charactersPerToken = 12;

/**
 * Returns a function that tokenizes a text: the tokens before it, the text as far as it fits, and the tokens after it.
 */
export function createTokenize(tokenizer: TextTokenizer, maxTokens: number): (text: string) => readonly number[] {
  const { head, tail } = findFrame(tokenizer);
  const available = Math.max(1, maxTokens - head.length - tail.length);
  return (text) => {
    const bounded = text.slice(0, maxTokens * charactersPerToken).toWellFormed();
    const { ids } = tokenizer.encode(bounded, { add_special_tokens: false });
    const framed = [...head, ...ids.slice(0, available), ...tail];
    // A model needs at least one token.
    return framed.length === 0 ? [0] : framed;
  };
}

/** Finds the tokens that the tokenizer puts around a text, such as [CLS] and [SEP]. */
function findFrame(tokenizer: TextTokenizer): { head: readonly number[]; tail: readonly number[] } {
  const bare = tokenizer.encode('a', { add_special_tokens: false }).ids;
  const framed = tokenizer.encode('a', { add_special_tokens: true }).ids;
  for (let at = 0; at + bare.length <= framed.length; at++) {
    if (bare.every((id, place) => framed[at + place] === id)) {
      return { head: framed.slice(0, at), tail: framed.slice(at + bare.length) };
    }
  }
  return { head: [], tail: [] };
}

/** Batches texts of similar length, because padding costs as much as text. */
export function createBatches(texts: ReadonlyArray<readonly number[]>): TokenBatch[] {
  const order = texts.map((ids, place) => ({ ids, place })).sort((a, b) => a.ids.length - b.ids.length);
  const batches: TokenBatch[] = [];
  for (let from = 0; from < order.length; ) {
    let to = from + 1;
    while (to < order.length && (to + 1 - from) * (order[to]?.ids.length ?? 0) <= maxBatchTokens) to += 1;
    const some = order.slice(from, to);
    batches.push({
      places: some.map(({ place }) => place),
      ids: some.map(({ ids }) => ids),
      length: some.at(-1)?.ids.length ?? 0,
    });
    from = to;
  }
  return batches;
}
