// An HTTP server around a library, as an application would build it: `host.mjs NAME FOLDER …` stores everything, then
// prints its URL and answers questions in JSON. Each engine of passages stems English, keeps stop words, and ranks passages
// that have any word of the question.
import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync, openSync, readFileSync, readSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as pause } from 'node:timers/promises';
import { freePort } from '../../processes.ts';
import { searchTexts } from '../../search/search-texts.ts';

const [name = '', folder = '', size = '', embeddings = ''] = process.argv.slice(2);
const wordsOf = (text) => text.match(/[\p{L}\p{N}]+/gu) ?? [];

function openSqlite(options = {}) {
  const database = new DatabaseSync(join(folder, `${name}.db`), options);
  database.exec('pragma journal_mode = wal; pragma synchronous = full');
  return database;
}

/** Reads one vector after another, so that only the index is in memory. */
function* readVectors() {
  const file = openSync(join(folder, 'vectors'), 'r');
  for (let vector = new Float32Array(Number(size)); readSync(file, vector) > 0; vector = new Float32Array(Number(size)))
    yield vector;
}

function findByVector(find) {
  return async ({ query, limit }) => {
    const body = JSON.stringify({ model: 'm', input: [query] });
    const { data } = await (await fetch(`${embeddings}/embeddings`, { method: 'POST', body })).json();
    return find(data[0].embedding, limit).map((place) => ({ text: `The answer of pair ${place}.` }));
  };
}

const opened = {
  FTS5() {
    const database = openSqlite();
    database.exec("create virtual table passage using fts5(text, tokenize = 'porter unicode61'); begin;");
    const insert = database.prepare('insert into passage (text) values (?)');
    for (const text of searchTexts(Number(size))) insert.run(text);
    database.exec("commit; insert into passage (passage) values ('optimize')");
    const ask = database.prepare('select rowid, text from passage where passage match ? order by rank limit ?');
    return ({ query, limit }) =>
      ask.all(
        wordsOf(query)
          .map((word) => `"${word}"`)
          .join(' OR '),
        limit,
      );
  },
  async LanceDB() {
    process.env.LANCE_CPU_THREADS ??= '4'; // on two processors it takes two, and waits for ever at 100,000 passages
    const { connect, Index } = await import('@lancedb/lancedb');
    const rows = Array.from(searchTexts(Number(size)), (text) => ({ text }));
    const table = await (await connect(folder)).createTable('passage', rows);
    await table.createIndex('text', { config: Index.fts({ stem: true, removeStopWords: false, withPosition: false }) });
    await table.optimize();
    return ({ query, limit }) =>
      table
        .query()
        .fullTextSearch(query, { columns: ['text'] })
        .select(['text', '_score'])
        .limit(limit)
        .toArray();
  },
  async Sphinx() {
    const rows = Array.from(
      searchTexts(Number(size)),
      (text, place) => `${place + 1}\t${text.replaceAll(/\s/g, ' ')}\n`,
    );
    writeFileSync(join(folder, 'rows'), rows.join(''));
    const port = Number(await freePort());
    const config = join(folder, 'sphinx.conf');
    writeFileSync(
      config,
      `source all\n{\ntype = tsvpipe\ntsvpipe_command = cat ${folder}/rows\ntsvpipe_field_string = text\n}
index passage\n{\nsource = all\npath = ${folder}/passage\nmorphology = stem_en\n}
searchd\n{\nlisten = 127.0.0.1:${port}:mysql41\npid_file = ${folder}/pid\nlog = ${folder}/log\nbinlog_path =\n}\n`,
    );
    execFileSync('indexer', ['--config', config, '--all', '--quiet']);
    const searchd = spawn('searchd', ['--config', config, '--nodetach'], { stdio: 'ignore' });
    process.on('SIGTERM', () => searchd.once('exit', () => process.exit(0)).kill('SIGTERM'));
    const pool = (await import('mysql2/promise')).createPool({ host: '127.0.0.1', port, connectionLimit: 8 });
    const ask = async ({ query, limit }) => {
      const match = `match('"${wordsOf(query).join(' ')}"/1')`;
      return (await pool.query(`select text from passage where ${match} limit ${limit} option ranker=bm25`))[0];
    };
    for (let left = 100; left > 0; left--) {
      if (await ask({ query: 'ready', limit: 1 }).catch(() => undefined)) return ask;
      await pause(100);
    }
    throw new Error(`searchd does not answer: ${readFileSync(join(folder, 'log'), 'utf8')}`);
  },
  async 'hnswlib-node'() {
    const { default: hnswlib } = await import('hnswlib-node');
    const index = new hnswlib.HierarchicalNSW('cosine', Number(size));
    index.initIndex([...readVectors()].length, 16, 200);
    let place = 0;
    for (const vector of readVectors()) index.addPoint([...vector], place++);
    index.writeIndexSync(join(folder, 'hnsw'));
    index.setEf(100);
    return findByVector((vector, limit) => index.searchKnn(vector, limit).neighbors);
  },
  async 'sqlite-vec'() {
    const database = openSqlite({ allowExtension: true });
    database.loadExtension((await import('sqlite-vec')).getLoadablePath());
    database.exec(`create virtual table item using vec0(vector float[${size}] distance_metric=cosine); begin;`);
    const insert = database.prepare('insert into item (vector) values (?)');
    for (const vector of readVectors()) insert.run(new Uint8Array(vector.buffer));
    database.exec('commit');
    const ask = database.prepare('select rowid from item where vector match ? and k = ? order by distance');
    return findByVector((vector, limit) =>
      ask.all(new Uint8Array(Float32Array.from(vector).buffer), limit).map(({ rowid }) => rowid - 1),
    );
  },
  /** The embedding service of all. A text with a number gets that vector; another is a question, its number in letters. */
  embeddings() {
    const [vectors, questions] = ['vectors', 'questions'].map(
      (file) => new Float32Array(new Uint8Array(readFileSync(join(folder, file))).buffer),
    );
    function embed(text) {
      const number = /\d+/.exec(text)?.[0];
      const from = Number(number ?? text.replaceAll(/[a-z]/g, (letter) => letter.charCodeAt(0) - 97)) * Number(size);
      return [...(number === undefined ? questions : vectors).subarray(from, from + Number(size))];
    }
    const usage = { prompt_tokens: 1, total_tokens: 1 };
    const item = (text, index) => ({ object: 'embedding', index, embedding: embed(text) });
    return ({ input }) => ({ object: 'list', model: 'm', usage, data: input.map(item) });
  },
};

mkdirSync(folder, { recursive: true });
const answer = await opened[name]();
const server = createServer(async (request, response) => {
  const parts = [];
  for await (const part of request) parts.push(part);
  const body = JSON.stringify(await answer(JSON.parse(Buffer.concat(parts).toString())));
  response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body) });
  response.end(body);
});
server.keepAliveTimeout = 600_000;
server.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${server.address().port}`));
