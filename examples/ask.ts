// Uploads a document and asks a question with the TypeScript client (npm install @quartermaster/client). Node.js 24 or later.
// Run: QM_API_KEY=$(cat data/first-key) node examples/ask.ts examples/handbook.md 'When does the library open?'
import { Quartermaster, RecordFailedError } from '@quartermaster/client';

const [document = 'examples/handbook.md', question = 'When does the library open?'] = process.argv.slice(2);
const qm = new Quartermaster({
  baseUrl: process.env.QM_URL ?? 'http://127.0.0.1:8080',
  apiKey: process.env.QM_API_KEY,
});

try {
  const { file_id } = await qm.files.upload(document);
  const { collection_id } = await qm.collections.create({ name: 'Handbook' });
  const record = await qm.records.create(collection_id, { type: 'file', file_id }).wait();
  console.log(`Passages: ${record.num_chunks}`);

  const [best] = await qm.search(collection_id, { query_text: question, top_k: 1 });
  if (best) {
    const { page, heading_path: headings = [] } = best.locator ?? {};
    const place = page ? `page ${page}` : headings.join(' > ');
    console.log(best.content);
    console.log(`-- ${[best.file_name, place, `score ${best.score}`].filter(Boolean).join(', ')}`);
  } else console.log('No passage fits.');
} catch (error) {
  if (!(error instanceof RecordFailedError)) throw error;
  console.error(`The document cannot be read: ${error.message}`);
  process.exitCode = 1;
}
