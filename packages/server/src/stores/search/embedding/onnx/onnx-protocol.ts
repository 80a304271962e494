import { deserialize, serialize } from 'node:v8';

/** How the vectors of the tokens of a text are combined. */
export type Pooling = 'mean' | 'cls' | 'last';

/** The model description that a folder contains. */
export interface OnnxModel {
  readonly modelFile: string;
  readonly tokenizerFile: string;
  /** Null when the folder has none. */
  readonly tokenizerConfigFile: string | null;
  readonly pooling: Pooling;
  /** The maximum number of tokens of one text, including those that the tokenizer adds. */
  readonly maxTokens: number;
}

export interface StartMessage {
  readonly type: 'start';
  /** The `package.json` next to which the runtime is installed. */
  readonly runtime: string;
  readonly model: OnnxModel;
  readonly threads: number;
}

export type ToChild =
  | StartMessage
  | {
      readonly type: 'embed';
      readonly id: number;
      /** Urgent requests come first. */
      readonly urgent: boolean;
      readonly texts: readonly string[];
    }
  | { readonly type: 'cancel'; readonly id: number };

export type FromChild =
  /** The `fingerprint` changes with the model and its tokenizer. */
  | { readonly type: 'ready'; readonly dimensions: number; readonly fingerprint: string }
  /** The model cannot be used. The message is for people; the process ends. */
  | { readonly type: 'unfit'; readonly message: string }
  /** A part of a request is finished. */
  | { readonly type: 'alive' }
  /** One vector for each text, or null where the model produced none. */
  | { readonly type: 'vectors'; readonly id: number; readonly vectors: ReadonlyArray<Float32Array | null> }
  | { readonly type: 'failed'; readonly id: number; readonly message: string };

/** Encodes by structured clone, which preserves typed arrays. */
export function encodeMessage(message: ToChild | FromChild): Buffer {
  return serialize(message);
}

/** Decodes without checking the shape, because both ends run code of the service. */
export function decodeMessage<Message extends ToChild | FromChild>(content: Buffer): Message {
  return deserialize(content);
}
