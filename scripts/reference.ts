// Writes the generated pages of docs/reference and the generated files of both clients from the code. `--check` fails when one of
// them is outdated.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { describeAdmission } from './reference/admission-page.ts';
import { type ApiDocument, describeApiTypes } from './reference/api-types.ts';
import { describeBundles } from './reference/bundles-page.ts';
import { describeCommands } from './reference/commands-page.ts';
import { describeDecisions } from './reference/decisions-page.ts';
import { describeErrorCodes } from './reference/error-code-types.ts';
import { describeErrors } from './reference/errors-page.ts';
import { describeFormats } from './reference/formats-page.ts';
import { describeLimits } from './reference/limits-page.ts';
import { describeOpenApi } from './reference/openapi-pages.ts';
import { describePythonClient } from './reference/python-client.ts';
import { describeSettings } from './reference/settings-page.ts';
import { describeSheets } from './reference/sheets-page.ts';

const documents = await describeOpenApi();
const pages: Record<string, string> = {
  'docs/decisions/README.md': describeDecisions(),
  'docs/reference/commands.md': describeCommands(),
  'docs/reference/settings.md': describeSettings(),
  'docs/reference/errors.md': describeErrors(),
  'docs/reference/admission.md': describeAdmission(),
  'docs/reference/formats.md': describeFormats(),
  'docs/reference/limits.md': describeLimits(),
  'docs/reference/sheets.md': describeSheets(),
  ...(await describeBundles()),
  ...documents,
  ...describeClient(documents),
  ...describePythonClient({
    files: documents['docs/reference/openapi-files.json'] ?? '',
    plugins: documents['docs/reference/openapi-plugins.json'] ?? '',
  }),
};

const checkOnly = process.argv.includes('--check');
const stale = Object.entries(pages).filter(([path, text]) => readText(path) !== text);
for (const [path, text] of stale) {
  if (checkOnly) {
    console.error(`${path} is not fresh: run "npm run reference", and say in CHANGELOG.md what changed`);
  } else {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
    console.log(`wrote ${path}`);
  }
}
process.exitCode = checkOnly && stale.length > 0 ? 1 : 0;

/** Returns the types of `@quartermaster/client` from the documents just written and from the table of error codes. */
function describeClient(texts: Record<string, string>): Record<string, string> {
  const folder = 'packages/client/src/generated';
  const apis = [
    ['files', 'FilesApi'],
    ['plugins', 'PluginsApi'],
  ].map(([address, name = '']) => {
    const source = `docs/reference/openapi-${address}.json`;
    const document = JSON.parse(texts[source] ?? '') as ApiDocument; // the service wrote it
    return [`${folder}/${address}-api.ts`, describeApiTypes(document, { source, name })];
  });
  return { ...Object.fromEntries(apis), [`${folder}/error-codes.ts`]: describeErrorCodes() };
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}
