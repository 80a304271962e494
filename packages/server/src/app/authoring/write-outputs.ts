import { readFile } from 'node:fs/promises';
import { parseDocument } from 'yaml';
import { replaceFile } from '../../platform/disk/replace-file.ts';

/** Sets the `output` of examples in a plugin's file, by their position. Comments and order stay unchanged. */
export async function writeOutputs(file: string, outputs: ReadonlyMap<number, unknown>): Promise<void> {
  const document = parseDocument(await readFile(file, 'utf8'));
  for (const [index, output] of outputs) {
    document.setIn(['examples', index, 'output'], document.createNode(output, { flow: true }));
  }
  await replaceFile(file, document.toString({ lineWidth: 120, flowCollectionPadding: false }));
}
