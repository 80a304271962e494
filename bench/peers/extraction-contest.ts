import { existsSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { connectClient } from '../../test/support/client.ts';
import { corpusFolder } from '../../test/support/corpus.ts';
import { startService } from '../processes.ts';
import { type Effort, type Figures, hold, runProgram } from './contest.ts';

const wordsOf = (text: string) => text.normalize('NFKC').match(/[\p{L}\p{N}]+/gu) ?? [];
/** A PDF of this repository and, if there is a corpus, a long one; a page of the documentation as DOCX and HTML. */
const documents = ['docs/examples/library-handbook.pdf', join(corpusFolder, 'pdf/deb__debian-policy__policy.pdf')];

/** Reads documents, one after another. The service also confines the reader, splits the text and makes it searchable. */
export async function contestExtraction(folder: string, version: string, effort: Effort): Promise<Figures[]> {
  const converted = ['operating.docx', 'operating.html'].map((name) => join(folder, name));
  for (const path of converted) {
    await runProgram('pandoc', ['docs/guides/operating.md', '-s', '--metadata=title:Operating', '-o', path]);
  }
  const service = await startService(join(folder, 'ours'), { QUARTERMASTER_LOG_LEVEL: 'warn' });
  const client = connectClient(service, service.key);
  const { collection_id: collection } = await client.collections.create({ name: 'documents' });
  const rows: Figures[] = [];
  for (const path of [...documents.filter((each) => existsSync(each)), ...converted]) {
    const [name, args] = path.endsWith('.pdf') ? ['pdftotext', [path, '-']] : ['pandoc', ['-t', 'plain', path]];
    const [about = ''] = (await runProgram(name, [name === 'pandoc' ? '--version' : '-v'])).split('\n');
    const words = wordsOf(await runProgram(name, args));
    const content = new Blob([readFileSync(path)]);
    const { file_id } = await client.files.upload(content, { purpose: 'record_file', name: basename(path) });
    const read = async () => await client.records.create(collection, { type: 'file', file_id }).wait({ timeout: 0 });
    const texts: string[] = [];
    for await (const chunk of client.records.chunks(collection, (await read()).record_id)) texts.push(chunk.content);
    const share = ((100 * countEqual(words, wordsOf(texts.join('\n')))) / words.length).toFixed(1);
    const ours = { name: 'Quartermaster', version, pid: service.pid, checked: `${share} % of the words of the other` };
    const contestants = [
      { ...ours, open: () => ({ ask: async () => (await read()).status === 'ready', close() {} }) },
      {
        name,
        version: about,
        checked: '',
        open: () => ({ ask: async () => (await runProgram(name, args)) !== '', close() {} }),
      },
    ];
    const work = `${basename(path).replace(/^.*__/, '')}, ${words.length.toLocaleString('en')} words`;
    const longer = { rounds: effort.rounds, seconds: effort.seconds * 2 };
    rows.push(...(await hold({ group: 'extraction', work, connections: [1] }, contestants, longer)));
  }
  await service.stop();
  return rows;
}

/** Counts the words that are in both, as often as they are in both. */
function countEqual(expected: readonly string[], found: readonly string[]): number {
  const left = Map.groupBy(found, (word) => word);
  return expected.filter((word) => left.get(word)?.pop() !== undefined).length;
}
