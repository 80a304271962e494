// Writes the generated pages of docs/reference from the code, and from them the types of the client. `--check` fails when a page is
// outdated.
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { describeAdmission } from './reference/admission-page.ts';
import { describeAudit } from './reference/audit-page.ts';
import { describeAuthorisation } from './reference/authorisation-page.ts';
import { describeBundles } from './reference/bundles-page.ts';
import { describeCommands } from './reference/commands-page.ts';
import { describeDecisions } from './reference/decisions-page.ts';
import { describeErrors } from './reference/errors-page.ts';
import { describeFormats } from './reference/formats-page.ts';
import { describeLimits } from './reference/limits-page.ts';
import { describeOpenApi } from './reference/openapi-pages.ts';
import { describeSettings } from './reference/settings-page.ts';
import { describeSheets } from './reference/sheets-page.ts';

const pages: Record<string, string> = {
  'docs/decisions/README.md': describeDecisions(),
  'docs/reference/commands.md': describeCommands(),
  'docs/reference/settings.md': describeSettings(),
  'docs/reference/errors.md': describeErrors(),
  'docs/reference/admission.md': describeAdmission(),
  'docs/reference/audit.md': describeAudit(),
  'docs/reference/authorisation.md': describeAuthorisation(),
  'docs/reference/formats.md': describeFormats(),
  'docs/reference/limits.md': describeLimits(),
  'docs/reference/sheets.md': describeSheets(),
  ...(await describeBundles()),
  ...(await describeOpenApi()),
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
if (!checkOnly) execFileSync('node', ['scripts/client-types.ts'], { stdio: 'inherit' });
process.exitCode = checkOnly && stale.length > 0 ? 1 : 0;

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}
