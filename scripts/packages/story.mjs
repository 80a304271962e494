// Uploads a document, creates a record, finds a passage and runs a plugin, with the installed client. `npm run script -- packages --measure`
// copies this file beside the installation and runs it with Node.js 26 and 20.
import { Quartermaster } from '@quartermaster/client';

const qm = new Quartermaster({ baseUrl: process.env.QM_URL, apiKey: process.env.QM_API_KEY });
const text = new TextEncoder().encode('# Hours\n\nThe library opens at nine.\n');
const { file_id } = await qm.files.upload(text, { name: 'handbook.md' });
const { collection_id } = await qm.collections.create({ name: 'handbook' });
await qm.records.create(collection_id, { type: 'file', file_id }).wait();
const [hit] = await qm.search(collection_id, { query_text: 'When does the library open?', top_k: 1 });
const { data } = await qm.plugins.run('calculator/evaluate', { expression: '6 * 7' });
if (!hit?.content.includes('nine') || data.value !== 42) throw new Error('the search or the run has another answer');
