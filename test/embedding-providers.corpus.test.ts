import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { Ajv2020 } from 'ajv/dist/2020.js';
import {
  type EmbeddingProviderName,
  embeddingProviders,
} from '../packages/server/src/stores/search/embedding/providers/providers.ts';
import { corpusRoot } from './support/corpus.ts';
import { embeddingDoubles } from './support/embedding-doubles.ts';

/*
 * Compares requests and doubles with documents of the vendors themselves.
 */
const documents = [
  { provider: 'openai', file: 'openai.json', request: 'CreateEmbeddingRequest', answer: 'CreateEmbeddingResponse' },
  {
    provider: 'gemini',
    file: 'gemini-2024.json',
    request: 'BatchEmbedContentsRequest',
    answer: 'BatchEmbedContentsResponse',
  },
] as const satisfies ReadonlyArray<{ provider: EmbeddingProviderName; file: string; request: string; answer: string }>;

for (const { provider, file, request, answer } of documents) {
  const document = JSON.parse(readFileSync(join(corpusRoot, 'vendors', file), 'utf8'));
  const schemas = Object.fromEntries(
    Object.entries(document.components.schemas as Record<string, object>).map(([name, schema]) => [
      name,
      // Without this, a schema accepts any unknown member.
      'properties' in schema ? { additionalProperties: false, ...schema } : schema,
    ]),
  );
  const ajv = new Ajv2020({ strict: false, logger: false, validateFormats: false });
  ajv.addSchema({ $id: 'document', components: { schemas } });
  const assertFits = (name: string, value: unknown) => {
    const validate = ajv.getSchema(`document#/components/schemas/${name}`);
    assert.ok(validate !== undefined, name);
    assert.ok(validate(JSON.parse(JSON.stringify(value))), JSON.stringify(validate.errors));
  };

  for (const use of ['chunk', 'question'] as const) {
    test(`a request to ${provider} with a ${use} fits the vendor's document`, () => {
      const texts = ['a', 'b'];
      assertFits(request, embeddingProviders[provider].body({ model: 'm', texts, use, dimensions: 256 }));
      assertFits(request, embeddingProviders[provider].body({ model: 'm', texts, use, dimensions: undefined }));
    });
  }

  test(`an answer of the double of ${provider} fits the vendor's document`, () => {
    const { answer: answerOf } = embeddingDoubles[provider];
    const { usageMetadata: _, ...documented } = answerOf([[0.5, 1]], 3, { model: 'm' }) as Record<string, unknown>;
    assertFits(answer, documented);
  });
}
