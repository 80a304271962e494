// Writes the types of `@quartermaster/client`, which stand in no commit, from the OpenAPI documents of docs/reference. The set-up,
// `npm run reference` and the build of the packages run it.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { type ApiDocument, describeApiTypes, describeErrorCodes } from './client-types/api-types.ts';

const root = resolve(import.meta.dirname, '..');
const folder = join(root, 'packages/client/src/generated');
mkdirSync(folder, { recursive: true });
for (const [address, name] of [
  ['files', 'FilesApi'],
  ['plugins', 'PluginsApi'],
] as const) {
  const source = `docs/reference/openapi-${address}.json`;
  const document = JSON.parse(readFileSync(join(root, source), 'utf8')) as ApiDocument; // the service wrote it
  writeFileSync(join(folder, `${address}-api.ts`), describeApiTypes(document, { source, name }));
  if (address === 'files') writeFileSync(join(folder, 'error-codes.ts'), describeErrorCodes(document));
}
