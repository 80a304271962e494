/** The part of a tokenizer that is used. */
export interface TextTokenizer {
  encode(text: string, options: { add_special_tokens: boolean }): { readonly ids: readonly number[] };
}

/** Texts that go through the model together. */
export interface TokenBatch {
  /** Which texts, as places in the list. */
  readonly places: readonly number[];
  readonly ids: ReadonlyArray<readonly number[]>;
  /** Of the longest. */
  readonly length: number;
}

/** Tokens of one batch, those that fill shorter texts up included: half a second of a small model on one core. */
const tokensAtOnce = 2048;
/** More characters than a token has on average in any language, so that a long text is not cut into tokens in vain. */
const charactersPerToken = 12;

/** @returns the tokens of a text: those before it, itself as far as it fits, those after it. */
export function createTokenize(tokenizer: TextTokenizer, maxTokens: number): (text: string) => readonly number[] {
  const { head, tail } = findFrame(tokenizer);
  const room = Math.max(1, maxTokens - head.length - tail.length);
  return (text) => {
    const bounded = text.slice(0, maxTokens * charactersPerToken).toWellFormed();
    const { ids } = tokenizer.encode(bounded, { add_special_tokens: false });
    const framed = [...head, ...ids.slice(0, room), ...tail];
    // A model cannot be asked about nothing.
    return framed.length === 0 ? [0] : framed;
  };
}

/** What the tokenizer puts around a text, such as [CLS] and [SEP]. */
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

/** Texts of like length together: what fills them up costs as much as what they say. */
export function createBatches(texts: ReadonlyArray<readonly number[]>): TokenBatch[] {
  const order = texts.map((ids, place) => ({ ids, place })).sort((a, b) => a.ids.length - b.ids.length);
  const batches: TokenBatch[] = [];
  for (let from = 0; from < order.length; ) {
    let to = from + 1;
    while (to < order.length && (to + 1 - from) * (order[to]?.ids.length ?? 0) <= tokensAtOnce) to += 1;
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
