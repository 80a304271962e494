// Serves resumable uploads with tus-node-server and its store of files: `tus-host.mjs FOLDER [sync]`. With `sync`, it
// synchronises each file and its folder before it answers, which the store does not do.
import { mkdirSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { FileStore } from '@tus/file-store';
import { Server } from '@tus/server';

const [directory = '', sync] = process.argv.slice(2);
mkdirSync(directory, { recursive: true });
async function synchronise(path) {
  const file = await open(path, 'r');
  await file.sync();
  await file.close();
}
const server = new Server({
  path: '/files',
  datastore: new FileStore({ directory }),
  async onUploadFinish(_request, upload) {
    if (sync === undefined) return {};
    await synchronise(join(directory, upload.id));
    await synchronise(join(directory, `${upload.id}.json`));
    await synchronise(directory);
    return {};
  },
});
const listening = server.listen({ host: '127.0.0.1', port: 0 }, () =>
  console.log(`http://127.0.0.1:${listening.address().port}`),
);
