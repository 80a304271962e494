import { readFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { type Static, Type } from 'typebox';
import { Value } from 'typebox/value';
import { replaceFile } from '../../platform/disk/replace-file.ts';
import { parseJson } from '../../platform/json/parse-json.ts';
import { OperatorError } from '../../platform/server-process/operator-error.ts';

/** Names become names of folders. */
const Name = Type.String({ pattern: '^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$' });

/** What `quartermaster embedding use` and the service have stored about the local models in a folder. */
const ModelList = Type.Object({
  /** The models of the service. New collections get the first one. */
  in_use: Type.Array(Name, { maxItems: 2 }),
  /** The model that the running service is downloading, or the next start will download. */
  wanted: Type.Optional(Name),
  /** The SHA-256 of each file at its first download, by the path of the model on the hub and that of the file. */
  sha256: Type.Record(Type.String(), Type.Record(Type.String(), Type.String({ pattern: '^[0-9a-f]{64}$' }))),
});
export type ModelList = Static<typeof ModelList>;

/** The name of the list, beside the folders of the models. */
export const modelListName = 'models.json';

/** The folder of the models that the store uses without further settings. */
export const modelsFolder = (dataFolder: string) => join(dataFolder, 'models');

/** The path of the list in the data folder. */
export const modelListPath = join('models', modelListName);

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

/** Replaces the list. A running service opens the models that it names. */
export const writeModelList = (folder: string, list: ModelList): Promise<void> =>
  replaceFile(join(folder, modelListName), `${JSON.stringify(list, null, 2)}\n`);

/**
 * Carries the choice and the checksums to another data folder, but not the model. The next start there downloads it again.
 * @returns the name of this model; null when none was chosen
 */
export async function carryModelList(fromDataFolder: string, toDataFolder: string): Promise<string | null> {
  const { in_use, wanted = in_use[0], sha256 } = readModelList(modelsFolder(fromDataFolder));
  if (wanted === undefined) return null;
  const folder = modelsFolder(toDataFolder);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await writeModelList(folder, { in_use: [], wanted, sha256 });
  return wanted;
}

function tryParse(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}
