import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import { countFieldTerms } from '../../../stores/search/analysis/field-terms.ts';
import type { RankedChunk } from '../../../stores/search/chunk-index.ts';
import type { Database } from '../../database/database.ts';
import { insertCollection, insertRecord } from '../../database/testing/insert-rows.ts';
import { assertSameRanking, type Corpus, createCorpus, createRandom, rankByHand } from './full-text-corpus.suite.ts';

const seqsOf = (matches: readonly RankedChunk[]) => matches.map((match) => match.seq);

export function testFullText(database: () => Database): void {
  describe('full text', () => {
    let collectionId: string;
    let corpus: Corpus;
    beforeEach(async () => {
      collectionId = await insertCollection(database());
      corpus = createCorpus(database(), collectionId);
    });

    testWords(() => corpus);
    testScores(() => corpus);
    testMatches(() => corpus);
    testVisibility(database, () => ({ corpus, collectionId }));
    testIsolation(database, () => ({ corpus, collectionId }));
  });
}

function testWords(corpus: () => Corpus): void {
  const scripts = {
    Latin: ['über', 'straße', 'naïve', 'élan'],
    Chinese: ['数据库', '全文', '检索'],
    Japanese: ['東京', 'タワー', 'に'],
    Korean: ['데이터베이스', '검색'],
    Arabic: ['قاعدة', 'البيانات', 'بحث'],
    Thai: ['ฐานข้อมูล', 'ค้นหา', 'น้ำ'],
    Devanagari: ['डेटाबेस', 'खोज'],
    emoji: ['🐘', '👩‍💻', '🇩🇪'],
    signs: `snake_case l'eau c++ v1.2.3 "quoted" a-b 50% * AND x\u0080y x\u0081y x\u0085y`.split(' '),
    digits: ['42', '3', '007'],
  };
  for (const [script, words] of Object.entries(scripts)) {
    it(`finds each word in ${script} whole and unchanged`, async () => {
      const seqs = await corpus().addTerms(words.map((word) => [word]));
      for (const [place, word] of words.entries()) {
        assert.deepEqual(seqsOf(await corpus().search([word])), [seqs[place]], word);
      }
    });
  }

  it('does not match a part of a word, or a word in another case', async () => {
    await corpus().addTerms([['snake_case', "l'eau", '数据库', 'naïve', 'Upper', 'word1']]);
    for (const part of ['snake', 'case', 'eau', 'l', '数据', 'naive', 'upper', 'word', '1', '_']) {
      assert.deepEqual(await corpus().search([part]), [], part);
    }
  });

  it('accepts words with characters that no database can store', async () => {
    const words = ['\ud800', 'nul\0byte', 'long'.repeat(1000), ''];
    const seqs = await corpus().addTerms([words, ['other']]);
    for (const word of words.slice(0, 3)) assert.deepEqual(seqsOf(await corpus().search([word])), [seqs[0]]);
    assert.deepEqual(await corpus().search(['']), []);
  });

  it('finds nothing for an empty query, for unknown words, and for words that look like query syntax', async () => {
    await corpus().add('one two three');
    for (const query of [[], ['four'], ['" OR one'], ["'; drop table chunk; --"], ['one*'], ['NEAR(one two)']]) {
      assert.deepEqual(await corpus().search(query), []);
    }
  });
}

function testScores(corpus: () => Corpus): void {
  it('counts a term in all fields that have it', async () => {
    const random = createRandom(31);
    const vocabulary = ['red', 'blue', 'teal', 'gold', 'amber'];
    const pick = () => Array.from({ length: 1 + Math.floor(random() * 6) }, () => vocabulary[Math.floor(random() * 5)]);
    const chunks = Array.from({ length: 200 }, () => ({
      title: pick(),
      heading: pick(),
      question: pick(),
      content: pick(),
    }));
    const seqs = await corpus().addTerms(
      chunks.map(({ title, heading, question, content }) => {
        const others = { heading: heading.join(' '), question: question.join(' '), content: content.join(' ') };
        return countFieldTerms({ title: title.join(' '), ...others }).split(' ');
      }),
    );
    const repeated = chunks.map(({ title, heading, question, content }) => {
      const above = [title, heading].flat().filter((word) => !content.includes(word));
      return [...above, ...question, ...content].map(String);
    });
    const texts = new Map(seqs.map((seq, place) => [seq, repeated[place] ?? []]));
    for (const query of [['red'], ['blue', 'gold'], vocabulary]) {
      assertSameRanking(await corpus().search(query, 200), rankByHand(texts, query));
    }
  });

  it('scores with BM25 as a share of the highest possible score of the query', async () => {
    const random = createRandom(7);
    const vocabulary = ['red', 'green', 'blue', 'مرحبا', '世界', 'น้ำ', 'snake_case', 'c++'];
    const word = () => vocabulary[Math.floor(random() ** 2 * vocabulary.length)] ?? 'red';
    const texts = Array.from({ length: 300 }, () => Array.from({ length: 1 + Math.floor(random() * 20) }, word));
    const seqs = await corpus().addTerms(texts);
    const all = new Map(seqs.map((seq, place) => [seq, texts[place] ?? []]));
    const queries = [['green'], ['red', 'c++'], ['世界', 'น้ำ', 'green', 'unknown'], ['blue', 'blue'], vocabulary];
    for (const query of queries) assertSameRanking(await corpus().search(query, 300), rankByHand(all, query));

    const removed = seqs.filter((_, place) => place % 3 === 0);
    await corpus().remove([...removed, 999_999_999]);
    for (const seq of removed) all.delete(seq);
    for (const query of queries) assertSameRanking(await corpus().search(query, 300), rankByHand(all, query));

    const [added] = await corpus().addTerms([['c++', 'c++', '世界']]);
    all.set(added ?? -1, ['c++', 'c++', '世界']);
    for (const query of queries) assertSameRanking(await corpus().search(query, 300), rankByHand(all, query));
  });
}

function testMatches(corpus: () => Corpus): void {
  it('returns equal scores in the order of addition, and at most the requested number', async () => {
    const seqs = await corpus().add('same', 'same', 'same', 'same');
    assert.deepEqual(seqsOf(await corpus().search(['same'], 3)), seqs.slice(0, 3));
  });

  it('counts a chunk once that was added in several parts of one call, and counts a chunk without words', async () => {
    const texts = Array.from({ length: 1201 }, (_, place) => (place === 1200 ? [] : [`w${place % 400}`]));
    const seqs = await corpus().addTerms(texts);
    const matches = await corpus().search(['w7']);
    assert.deepEqual(seqsOf(matches), [seqs[7], seqs[407], seqs[807]]);
    await corpus().remove(seqs.slice(0, 1000));
    assert.deepEqual(seqsOf(await corpus().search(['w7'])), []);
    assert.deepEqual(seqsOf(await corpus().search(['w399'])), [seqs[1199]]);
  });
}

function testVisibility(database: () => Database, current: () => { corpus: Corpus; collectionId: string }): void {
  it('finds visible chunks after any number of better ones that are not visible', async () => {
    const { corpus, collectionId } = current();
    const record = await insertRecord(database(), collectionId);
    for (let round = 0; round < 150; round += 1) await corpus.addToRecord(record, 9, 'water');
    const [visible] = await corpus.add('water in a much longer text than the others');
    assert.deepEqual(seqsOf(await corpus.search(['water'], 1)), [visible]);
  });
}

function testIsolation(database: () => Database, current: () => { corpus: Corpus; collectionId: string }): void {
  it('removes a dropped index, rolls back with its transaction, and searches inside one', async () => {
    const { corpus, collectionId } = current();
    const { write, searchIndex } = database();
    const [seq] = await corpus.add('water');
    const undone = write.transaction().execute(async (transaction) => {
      await searchIndex.drop(transaction, collectionId);
      assert.deepEqual(await searchIndex.ask(transaction, { collectionId, words: ['water'], limit: 1 }), []);
      throw new Error('undo');
    });
    await assert.rejects(undone, /undo/);
    assert.deepEqual(seqsOf(await corpus.search(['water'])), [seq]);
    await write.transaction().execute((transaction) => searchIndex.drop(transaction, collectionId));
    await write.transaction().execute((transaction) => searchIndex.drop(transaction, collectionId));
    assert.deepEqual(await corpus.search(['water']), []);
  });

  it('refuses a text that is not a collection id', async () => {
    const { searchIndex, read } = database();
    const search = async () =>
      searchIndex.ask(read, { collectionId: 'x"; drop table chunk; --', words: ['water'], limit: 1 });
    assert.deepEqual(await search().catch(() => []), []);
    await read.selectFrom('chunk').select('seq').limit(1).execute();
  });
}
