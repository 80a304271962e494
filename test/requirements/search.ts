import type { Requirements } from './requirement.ts';

/** The search of chunks by words and by vectors. */
export const searchRequirements: Requirements = {
  'query.found': {
    promise:
      'Questions find their passages at least as well as with other BM25 implementations, in every language of the corpus.',
    source: 'docs/contract.md "Records"',
    tests: [
      'questions find their passages as the page says, and above the bar: ${name}',
      'questions find their passages on PostgreSQL, too: ${name}',
    ],
  },
  'query.exact': {
    promise: 'The exact question of a pair finds this pair first, however similar the others are.',
    source: 'docs/contract.md "Collections, records, chunks"',
    tests: ['the exact question of a pair finds it before 1,000 similar ones, with ${database}'],
  },
  'query.good-match': {
    promise: 'An answer without a good match says so.',
    source: 'docs/contract.md "Collections, records, chunks"',
    tests: [
      'an answer tells whether its best chunk reaches the threshold of the question',
      'an answer without a good match says so, whatever its page',
    ],
  },
  'query.conditions': {
    promise: 'Metadata filters select the same chunks on both databases, and their keys and values never become SQL.',
    source: 'docs/contract.md "Collections, records, chunks"',
    tests: [
      'conditions select chunks by their metadata, and keys and values are never interpreted as SQL',
      'a chunk inherits missing metadata from its record',
      'the ids of records and of their files select chunks, whatever entries the metadata have',
    ],
  },
  'vectors.never-in-the-way': {
    promise: 'A failed or changed embedder fails no record and mixes no vectors, and missing vectors are added later.',
    source: 'docs/contract.md "Records"',
    tests: [
      'an embedder that fails does not fail the record: its words are found, and its vectors follow later',
      'interrupted embedding continues where it stopped, and nothing is embedded twice',
      'a text is paid once for each model and project, in all records, collections and starts, in ${name}',
      '[embeddings] after kills in the middle of embedding, every chunk has its vector, and few texts are paid twice',
      '[embeddings] after kills around the exchange of two sets of vectors, one set is in use and few texts are paid twice',
      '[embeddings] after kills around the exchange of two sets of vectors on PostgreSQL, one set is in use and few texts are paid twice',
      'another model is detected, is not mixed with the first, and replaces it on request',
      '[embeddings] a question finds synonyms, the key appears nowhere, and searches use words only while the embedding service is down',
    ],
  },
  'vectors.local': {
    promise: 'A model in a local folder computes vectors without a network, in a process that cannot harm the server.',
    source: 'docs/contract.md "Records"',
    tests: [
      '[embeddings] a model in a local folder finds synonyms without a network, survives a kill of its process, and ends with the service',
      '[embeddings] an unusable model stops the start with an error that names the reason',
      'an ended process is started again, and its pending requests are repeated',
      'a process that does not answer is ended, and the embedder pauses when it happens again',
      'without the runtime the error names the command that installs it',
    ],
  },
  'vectors.providers': {
    promise: 'Embedding providers are chosen by name. Requests have the form and the limits that each documents.',
    source: 'ADR 0139',
    tests: [
      'the setting names exactly the providers of the table',
      'the texts of a request have no more tokens than the provider allows, counted by another tokenizer',
      '[embeddings] every provider has a page, and the overview links to it',
      '[embeddings] the commands of the page of ${provider} find a text by its meaning, and the key appears nowhere',
    ],
  },
  'vectors.fetched': {
    promise: 'A model is downloaded by one command, verified by checksums, and installed as a whole or not at all.',
    source: 'ADR 0050',
    tests: [
      'a model is downloaded, verified and installed, and a second call changes nothing',
      'a file with another checksum installs nothing',
      'a broken download installs nothing',
      'a full disk installs nothing and is named',
    ],
  },
  'query.ranked': {
    promise:
      'For a question in any script, the passage is the first result, with a score from 0 to 1, on both databases.',
    source: 'docs/contract.md "Records"',
    tests: [
      'a question in ${language} finds the chunk that answers it first, with a score from 0 to 1',
      'scores with BM25 as a share of the highest possible score of the query',
      'separates collections: neither matches nor scores depend on another collection',
      'max_tokens skips a chunk that does not fit and uses a smaller one after it',
    ],
  },
};
