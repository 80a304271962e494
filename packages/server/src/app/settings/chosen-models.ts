import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Static, Type } from 'typebox';
import { Value } from 'typebox/value';
import { parseJson } from '../../platform/json/parse-json.ts';
import { OperatorError } from '../../platform/server-process/operator-error.ts';

/** Names become names of folders. */
const Name = Type.String({ pattern: '^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$' });

/** What `quartermaster embedding use` has stored about the local models in a folder. */
const ModelList = Type.Object({
  /** The models of the service. New collections get the first one. */
  in_use: Type.Array(Name, { maxItems: 2 }),
  /** The SHA-256 of each file at its first download, by the path of the model on the hub and that of the file. */
  sha256: Type.Record(Type.String(), Type.Record(Type.String(), Type.String({ pattern: '^[0-9a-f]{64}$' }))),
});
export type ModelList = Static<typeof ModelList>;

/** The name of the list, beside the folders of the models. */
export const modelListName = 'models.json';

/** The folder of the models that the store uses without further settings. */
export const modelsFolder = (dataFolder: string) => join(dataFolder, 'models');

/** Reads the list of the models in a folder. It is empty before the first model is chosen. @throws OperatorError when it is damaged */
export function readModelList(folder: string): ModelList {
  let text: string;
  try {
    text = readFileSync(join(folder, modelListName), 'utf8');
  } catch (error) {
    // The opening of the data folder names one that is a file.
    if (['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) return { in_use: [], sha256: {} };
    throw new OperatorError(`The file ${join(folder, modelListName)} cannot be read. Correct its permissions.`);
  }
  const list = tryParse(text);
  if (Value.Check(ModelList, list)) return list;
  throw new OperatorError(`The file ${join(folder, modelListName)} is damaged. Remove it, and choose the model again.`);
}

function tryParse(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}
