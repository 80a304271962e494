import type { EmbeddingParts } from './collections/vector-search.ts';
import type { Base } from './compose.ts';
import type { Config } from './config.ts';
import type { Embedder } from './embedding/embedder.ts';
import { createHashEmbedder } from './embedding/hash-embedder.ts';
import { openVectorIndex } from './embedding/open-vector-index.ts';

const hashDimensions = 512;

/** What makes and searches vectors, as the settings say; undefined: nothing does. */
export function openEmbedding({ config, closer }: Base): EmbeddingParts | undefined {
  const embedder = createEmbedder(config);
  if (embedder === undefined) return undefined;
  closer.add('embedder', () => embedder.close());
  return {
    embedder,
    openIndex: (load) => openVectorIndex({ load, memory: config.vectorMemoryMb * 1024 * 1024 }),
  };
}

function createEmbedder({ embeddingProvider, embeddingDimensions }: Config): Embedder | undefined {
  switch (embeddingProvider) {
    case 'none':
      return undefined;
    case 'hash':
      return createHashEmbedder(embeddingDimensions ?? hashDimensions);
  }
}
