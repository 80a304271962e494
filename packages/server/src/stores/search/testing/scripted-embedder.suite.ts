import { type Embedder, EmbedderUnavailable } from '../embedding/embedder.ts';
import { hashText } from '../embedding/testing/hash-text.fixture.ts';

export interface ScriptedEmbedder extends Embedder {
  /** The texts embedded so far, including questions. */
  readonly texts: string[];
  /** Makes the embedder unavailable after the given number of texts; null makes it available again. */
  fail(message: string | null, after?: number): void;
}

const refusal = { reason: 'The model refuses the text.', isRefused: true };

/** An embedder whose failures a test controls. Its vectors are real. */
export function createScriptedEmbedder(model = 'scripted', dimensions = 64): ScriptedEmbedder {
  const texts: string[] = [];
  let failure: string | null = null;
  let until = 0;
  function embedOne(text: string): Float32Array {
    if (failure !== null && texts.length >= until) throw new EmbedderUnavailable(failure);
    texts.push(text);
    return hashText(text, dimensions);
  }
  return {
    ...{ model, batchSize: 2, lanes: 2, texts },
    fail: (message, after = 0) => {
      failure = message;
      until = after;
    },
    embed: async (batch) => batch.map((text) => (text.includes('refused') ? refusal : embedOne(text))),
    embedQuestion: async (text) => embedOne(text),
    close: async () => {},
  };
}
