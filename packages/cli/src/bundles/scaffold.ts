import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { checkId } from '@quartermaster/importers/bundle-files';
import { requestFiles } from './scaffold-request.ts';

/**
 * Writes a bundle that loads, with one plugin. Its example fails until the plugin is written or, with the URL of an API, until it
 * is recorded.
 * @returns the folder of the bundle
 */
export async function scaffoldBundle(out: string, id: string, url?: string): Promise<string> {
  checkId('bundle', id);
  const files = url === undefined ? filesOf(id) : requestFiles(id, url);
  const folder = join(out, id);
  await mkdir(out, { recursive: true });
  await mkdir(folder).catch((error: unknown) => {
    const isThere = error instanceof Error && 'code' in error && error.code === 'EEXIST';
    throw isThere ? new Error(`${folder} already exists. Choose another id or folder.`) : error;
  });
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
  return folder;
}

function filesOf(id: string): Readonly<Record<string, string>> {
  return {
    'bundle.yaml': `id: ${id}
version: 0.1.0
name: ${JSON.stringify(id)}
description: Say what the plugins of this bundle are for.
provider: Say who runs the API behind it.
developer: Say who you are.
hosts: []
`,
    'greet.yaml': `id: greet
name: Greet
description: Greets somebody by name.
effects: read
idempotent: true
input_schema:
  type: object
  additionalProperties: false
  required: [name]
  properties:
    name: {type: string, minLength: 1, description: Whom to greet.}
output_schema:
  type: object
  required: [greeting]
  properties:
    greeting: {type: string, description: The greeting.}
handler: greet.ts
examples:
  - {input: {name: Ada}, output: {greeting: 'Hello, Ada!'}}
`,
    'types.ts': `// Generated from the schemas by "quartermaster bundle types"; do not edit.

export type GreetInput = {
  /** Whom to greet. */
  readonly name: string;
};

export type GreetOutput = {
  /** The greeting. */
  readonly greeting: string;
};
`,
    'greet.ts': `import type { Handler } from '@quartermaster/plugin-kit';
import type { GreetInput, GreetOutput } from './types.ts';

// The example in greet.yaml defines the expected result. "quartermaster bundle test" fails until this handler returns
// it.
export const run: Handler<GreetInput, GreetOutput> = (_input, context) => context.reject('greet is not written yet');
`,
  };
}
