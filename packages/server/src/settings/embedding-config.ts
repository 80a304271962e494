import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { isJsonObject } from '../kernel/json/json-object.ts';
import { parseJson } from '../kernel/json/parse-json.ts';
import type { Secret } from '../kernel/secret.ts';
import { type embeddingProviderNames, embeddingSettings, findMissingEmbedding } from './embedding-settings.ts';
import type { Environment } from './environment.ts';

/** One model: where it is and how its texts are sent. */
export interface ModelConfig {
  readonly embeddingProvider: 'none' | 'onnx' | (typeof embeddingProviderNames)[number];
  readonly embeddingDimensions: number | null;
  /** This and the next three are null for what the provider documents. */
  readonly embeddingUrl: string | null;
  readonly embeddingModel: string | null;
  readonly embeddingQueryPrefix: string | null;
  readonly embeddingDocumentPrefix: string | null;
  readonly embeddingKey: Secret | null;
  readonly embeddingFolder: string | null;
  readonly embeddingThreads: number;
  readonly embeddingMemoryMb: number;
  readonly embeddingBatch: number;
  readonly embeddingSeconds: number;
  /** Of a million tokens. Null: unknown. */
  readonly embeddingPrice: number | null;
}

type ModelSetting = Exclude<keyof typeof embeddingSettings & `EMBEDDING_${string}`, 'EMBEDDING_MODELS_FILE'>;

export interface ModelReader {
  text(key: ModelSetting): string;
  number(key: ModelSetting): number;
  optional<T>(key: ModelSetting, parse: (value: string) => T): T | null;
  secret(key: ModelSetting, fileKey: ModelSetting): Secret | null;
}

export function readModel({ text, number, optional, secret }: ModelReader): ModelConfig {
  return {
    embeddingProvider: text('EMBEDDING_PROVIDER') as ModelConfig['embeddingProvider'], // checked against its list
    embeddingDimensions: optional('EMBEDDING_DIMENSIONS', Number),
    embeddingUrl: optional('EMBEDDING_URL', String),
    embeddingModel: optional('EMBEDDING_MODEL', String),
    embeddingQueryPrefix: optional('EMBEDDING_QUERY_PREFIX', String),
    embeddingDocumentPrefix: optional('EMBEDDING_DOCUMENT_PREFIX', String),
    embeddingKey: secret('EMBEDDING_KEY', 'EMBEDDING_KEY_FILE'),
    embeddingFolder: optional('EMBEDDING_FOLDER', (value) => resolve(value)),
    embeddingThreads: number('EMBEDDING_THREADS'),
    embeddingMemoryMb: number('EMBEDDING_MEMORY_MB'),
    embeddingBatch: number('EMBEDDING_BATCH'),
    embeddingSeconds: number('EMBEDDING_SECONDS'),
    embeddingPrice: optional('EMBEDDING_PRICE', Number),
  };
}

/** The maximum number of models in the file. Each has a worker that looks for chunks without vectors. */
export const maxFurtherModels = 16;

export interface ModelsFile {
  /** Null when there is none. */
  readonly path: string | null;
  readonly prefix: string;
  /** Creates a reader of settings that adds errors to the list. */
  readonly createReader: (environment: Environment, errors: string[]) => ModelReader;
}

/**
 * Reads a JSON list of models. The members of a model are the settings of the first model in lower case, without
 * `EMBEDDING_`, so that they are checked in the same way.
 */
export function readModelsFile(file: ModelsFile, errors: string[]): ModelConfig[] {
  const { path, prefix, createReader } = file;
  if (path === null) return [];
  const name = `${prefix}EMBEDDING_MODELS_FILE`;
  const list = readList(path);
  if (list === null || list.length > maxFurtherModels) {
    errors.push(`${name} must name a readable file with a JSON list of at most ${maxFurtherModels} objects.`);
    return [];
  }
  return list.map((members, place) => {
    const ofModel: string[] = findUnknownMembers(members);
    const entries = Object.entries(members).map(([member, value]) => [`${prefix}${settingOf(member)}`, String(value)]);
    const model = readModel(createReader(Object.fromEntries(entries), ofModel));
    if (model.embeddingProvider === 'none') ofModel.push('provider is required.');
    ofModel.push(...findMissingEmbedding(model, prefix));
    errors.push(...ofModel.map((error) => `${name}, model ${place + 1}: ${withMemberNames(error, prefix)}`));
    return model;
  });
}

function readList(path: string): Array<Record<string, unknown>> | null {
  try {
    const list = parseJson(readFileSync(path, 'utf8'));
    return Array.isArray(list) && list.every(isJsonObject) ? list : null;
  } catch {
    return null;
  }
}

const settingOf = (member: string) => `EMBEDDING_${member.toUpperCase()}`;

const membersOfModel: readonly string[] = Object.keys(embeddingSettings)
  .filter((key) => key.startsWith('EMBEDDING_') && key !== 'EMBEDDING_MODELS_FILE')
  .map((key) => key.slice('EMBEDDING_'.length).toLowerCase());

function findUnknownMembers(members: Record<string, unknown>): string[] {
  const isValue = (value: unknown) => typeof value === 'string' || typeof value === 'number';
  return Object.entries(members).flatMap(([member, value]) => {
    if (!membersOfModel.includes(member)) return `unknown member "${member}". Allowed: ${membersOfModel.join(', ')}.`;
    return isValue(value) ? [] : `${member} must be a string or a number.`;
  });
}

/** Replaces the names of settings by the names of members. */
function withMemberNames(error: string, prefix: string): string {
  return membersOfModel.reduceRight((text, member) => text.replaceAll(`${prefix}${settingOf(member)}`, member), error);
}
