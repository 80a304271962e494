/** What a text is for. Some models embed questions and the texts that answer them differently. */
export type TextUse = 'chunk' | 'question';

export interface EmbeddingRequest {
  readonly model: string;
  readonly texts: readonly string[];
  readonly use: TextUse;
  /** The requested dimensions; undefined for the model's default. */
  readonly dimensions: number | undefined;
}

/** Describes an embedding API as data. Every value comes from the provider's own documentation. */
export interface EmbeddingProvider {
  /** The name for people. */
  readonly title: string;
  /** The documents that the values come from. */
  readonly sources: readonly string[];
  /** The default base URL; null when the operator must set it. */
  readonly url: string | null;
  /** Follows the base URL. `{model}` is replaced. */
  readonly path: string;
  /** The default model; null when the operator must set it. */
  readonly model: string | null;
  /** The header that carries the key. `{credential}` is replaced. */
  readonly key: { readonly header: string; readonly template: string };
  /** The maximum number of texts in a request. */
  readonly maxTexts: number;
  /** The maximum number of tokens in a request, all texts together. Null: there is no limit. */
  readonly maxTokens: number | null;
  /** The body of a request. Undefined members are not sent. */
  readonly body: (request: EmbeddingRequest) => object;
  /** Where the answer contains what. */
  readonly answer: EmbeddingAnswer;
  /** The prefixes that a model requires, unless the operator sets others. Default: none. */
  readonly prefixes?: (model: string) => Readonly<Record<TextUse, string>>;
}

export interface EmbeddingAnswer {
  /** The path to the list of vectors. An empty path is the answer itself. */
  readonly vectors: readonly string[];
  /** The member of a list item that holds the vector. Null: the item is the vector. */
  readonly vector: string | null;
  /** The path to the number of tokens used; null when the answer does not state it. */
  readonly tokens: readonly string[] | null;
}
