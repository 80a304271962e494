import { readFileSync } from 'node:fs';
import { isJsonObject } from '../../platform/json/json-object.ts';
import { parseJson } from '../../platform/json/parse-json.ts';
import { prefix, readSettings } from './read-settings.ts';
import type { SettingValues } from './setting.ts';
import { settings } from './settings.ts';

/** The settings of one model. The providers that are services are checked when they are opened. */
const modelSettings = {
  EMBEDDING_PROVIDER: settings.EMBEDDING_PROVIDER,
  EMBEDDING_DIMENSIONS: settings.EMBEDDING_DIMENSIONS,
  EMBEDDING_URL: settings.EMBEDDING_URL,
  EMBEDDING_MODEL: settings.EMBEDDING_MODEL,
  EMBEDDING_KEY: settings.EMBEDDING_KEY,
  EMBEDDING_QUERY_PREFIX: settings.EMBEDDING_QUERY_PREFIX,
  EMBEDDING_DOCUMENT_PREFIX: settings.EMBEDDING_DOCUMENT_PREFIX,
  EMBEDDING_THREADS: settings.EMBEDDING_THREADS,
  EMBEDDING_PRICE: settings.EMBEDDING_PRICE,
};

/** One model: where it is and how its texts are sent. Null is what the provider documents. */
export type ModelConfig = SettingValues<typeof modelSettings>;

/** The maximum number of models in the file. Each has a worker that looks for chunks without vectors. */
export const maxFurtherModels = 16;

/**
 * Reads a JSON list of models. The members of a model are the settings of the first model in lower case, without
 * `EMBEDDING_`, so that they are checked in the same way.
 */
export function readModelsFile(path: string | null, errors: string[]): ModelConfig[] {
  if (path === null) return [];
  const name = `${prefix}EMBEDDING_MODELS_FILE`;
  const list = readList(path);
  if (list === null || list.length > maxFurtherModels) {
    errors.push(`${name} must name a readable file with a JSON list of at most ${maxFurtherModels} objects.`);
    return [];
  }
  return list.map((members, place) => {
    const ofModel = findUnknownMembers(members);
    const entries = Object.entries(members).map(([member, value]) => [settingOf(member), String(value)]);
    const model = readSettings(modelSettings, Object.fromEntries(entries), ofModel);
    if (model.embeddingProvider === 'none') ofModel.push('provider is required.');
    ofModel.push(...findMissingFolder(model));
    errors.push(...ofModel.map((error) => `${name}, model ${place + 1}: ${withMemberNames(error)}`));
    return model;
  });
}

/** The settings of a model in a local folder. */
export const localModel = (folder: string, embeddingThreads: number): ModelConfig => ({
  ...readSettings(modelSettings, {}, []),
  embeddingProvider: 'onnx',
  embeddingModel: folder,
  embeddingThreads,
});

/** Returns what is missing or contradictory in the settings of `onnx`. */
export function findMissingFolder({ embeddingProvider, ...model }: ModelConfig): string[] {
  if (embeddingProvider !== 'onnx') return [];
  const errors: string[] = [];
  if (model.embeddingModel === null) {
    errors.push(`${prefix}EMBEDDING_PROVIDER is onnx: set ${prefix}EMBEDDING_MODEL to the folder of the model, too.`);
  }
  if (model.embeddingQueryPrefix !== null || model.embeddingDocumentPrefix !== null) {
    errors.push(
      `${prefix}EMBEDDING_QUERY_PREFIX and ${prefix}EMBEDDING_DOCUMENT_PREFIX have no effect with onnx. Set query_prefix and document_prefix in quartermaster.json of the model folder instead.`,
    );
  }
  return errors;
}

function readList(path: string): Array<Record<string, unknown>> | null {
  try {
    const list = parseJson(readFileSync(path, 'utf8'));
    return Array.isArray(list) && list.every(isJsonObject) ? list : null;
  } catch {
    return null;
  }
}

const settingOf = (member: string) => `${prefix}EMBEDDING_${member.toUpperCase()}`;

const membersOfModel: readonly string[] = [...Object.keys(modelSettings), 'EMBEDDING_KEY_FILE'].map((key) =>
  key.slice('EMBEDDING_'.length).toLowerCase(),
);

function findUnknownMembers(members: Record<string, unknown>): string[] {
  const isValue = (value: unknown) => typeof value === 'string' || typeof value === 'number';
  return Object.entries(members).flatMap(([member, value]) => {
    if (!membersOfModel.includes(member)) return `unknown member "${member}". Allowed: ${membersOfModel.join(', ')}.`;
    return isValue(value) ? [] : `${member} must be a string or a number.`;
  });
}

/** Replaces the names of settings by the names of members. */
function withMemberNames(error: string): string {
  return membersOfModel.reduceRight((text, member) => text.replaceAll(settingOf(member), member), error);
}
