import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createNewId } from '../../../platform/identifier.ts';
import { type AnswerDeps, createAnswerQuestion, mostAgain } from './answer-question.ts';

test('a question ranks again when ranked chunks are gone, at most three times', async () => {
  for (const { outdated, expected } of [
    { outdated: 0, expected: 1 },
    { outdated: 2, expected: 3 },
    { outdated: 99, expected: 1 + mostAgain },
  ]) {
    let asked = 0;
    const deps: AnswerDeps = {
      chunks: { fetch: async () => new Map(), describeNeighbours: async () => [] },
      findDefaults: async () => ({}),
      async findDistinct() {
        asked += 1;
        return { hits: [], rankings: [], isOutdated: asked <= outdated };
      },
    };
    const answer = createAnswerQuestion(deps);
    await answer({ projectId: 'p', keyId: null, collectionIds: [createNewId()('collection')] }, { query_text: 'red' });
    assert.equal(asked, expected);
  }
});
