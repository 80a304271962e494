import { deserialize, serialize } from 'node:v8';

/** How the vectors of a text's tokens become one. */
export type Pooling = 'mean' | 'cls' | 'last';

/** What a folder says about its model. */
export interface OnnxModel {
  readonly modelFile: string;
  readonly tokenizerFile: string;
  /** null: there is none. */
  readonly tokenizerConfigFile: string | null;
  readonly pooling: Pooling;
  /** Of one text, those the tokenizer adds included. */
  readonly maxTokens: number;
}

export interface StartMessage {
  readonly type: 'start';
  /** The `package.json` beside which the runtime is installed. */
  readonly runtime: string;
  readonly model: OnnxModel;
  readonly threads: number;
}

export type ToChild =
  | StartMessage
  | {
      readonly type: 'embed';
      readonly id: number;
      /** Before all that is not. */
      readonly urgent: boolean;
      readonly texts: readonly string[];
    }
  | { readonly type: 'cancel'; readonly id: number };

export type FromChild =
  /** `fingerprint` changes with the model and its tokenizer. */
  | { readonly type: 'ready'; readonly dimensions: number; readonly fingerprint: string }
  /** For people; the process ends. */
  | { readonly type: 'unfit'; readonly message: string }
  /** A part of some work is done. */
  | { readonly type: 'alive' }
  /** One a text; null where the model made nothing of it. */
  | { readonly type: 'vectors'; readonly id: number; readonly vectors: ReadonlyArray<Float32Array | null> }
  | { readonly type: 'failed'; readonly id: number; readonly message: string };

/** By structured clone, which keeps the arrays of numbers as they are. */
export function encodeMessage(message: ToChild | FromChild): Buffer {
  return serialize(message);
}

/** Both ends run our own program and nobody else's: the shape of a message is not checked. */
export function decodeMessage<Message extends ToChild | FromChild>(content: Buffer): Message {
  return deserialize(content);
}
