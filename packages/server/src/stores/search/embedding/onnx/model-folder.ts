import { access, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isJsonObject } from '../../../../platform/json/json-object.ts';
import { OperatorError } from '../../../../platform/server-process/operator-error.ts';
import type { OnnxModel, Pooling } from './onnx-protocol.ts';

export interface ModelFolder {
  readonly model: OnnxModel;
  readonly queryPrefix: string;
  readonly documentPrefix: string;
}

export const ownFile = 'quartermaster.json';
const usualTokens = 512;
const mostTokens = 8192;
const poolings: readonly Pooling[] = ['mean', 'cls', 'last'];

type Json = Readonly<Record<string, unknown>>;

/**
 * Reads a model folder in the layout of sentence-transformers: `model.onnx` (or `onnx/model.onnx`) and
 * `tokenizer.json`, and, where present, `tokenizer_config.json`, `config.json`, `sentence_bert_config.json`,
 * `config_sentence_transformers.json` and `1_Pooling/config.json`. `quartermaster.json` has the last word.
 * @throws OperatorError that says what is missing or wrong, for the operator.
 */
export async function readModelFolder(folder: string): Promise<ModelFolder> {
  const modelFile = await firstOf(folder, ['model.onnx', join('onnx', 'model.onnx')]);
  const tokenizerFile = await firstOf(folder, ['tokenizer.json']);
  const own = checkOwn(folder, (await readJson(folder, ownFile)) ?? {});
  const tokenizerConfig = await readJson(folder, 'tokenizer_config.json');
  const prompts = (await readJson(folder, 'config_sentence_transformers.json'))?.prompts;
  const promptOf = (...names: readonly string[]) => names.map((name) => textOf(prompts, name)).find(isText) ?? '';
  return {
    model: {
      modelFile,
      tokenizerFile,
      tokenizerConfigFile: tokenizerConfig === null ? null : join(folder, 'tokenizer_config.json'),
      pooling: own.pooling ?? readPooling(folder, await readJson(folder, join('1_Pooling', 'config.json'))),
      maxTokens: own.max_tokens ?? (await readMaxTokens(folder, tokenizerConfig)),
    },
    queryPrefix: own.query_prefix ?? promptOf('query', 'search_query'),
    documentPrefix: own.document_prefix ?? promptOf('document', 'passage', 'search_document'),
  };
}

async function firstOf(folder: string, names: readonly string[]): Promise<string> {
  for (const name of names) {
    const found = await access(join(folder, name)).then(
      () => true,
      () => false,
    );
    if (found) return join(folder, name);
  }
  throw new OperatorError(`The model folder ${folder} has no ${names.join(' and no ')}, or it cannot be read.`);
}

async function readJson(folder: string, name: string): Promise<Json | null> {
  let text: string;
  try {
    text = await readFile(join(folder, name), 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null; // what readFile throws has a code
    throw new OperatorError(`The file ${name} of the model folder ${folder} cannot be read.`, { cause: error });
  }
  try {
    const value: unknown = JSON.parse(text);
    if (isJsonObject(value)) return value;
  } catch {
    // Said below.
  }
  throw new OperatorError(`The file ${name} of the model folder ${folder} is not a JSON object.`);
}

interface Own {
  readonly pooling?: Pooling;
  readonly max_tokens?: number;
  readonly query_prefix?: string;
  readonly document_prefix?: string;
}

const ownChecks: Readonly<Record<string, { readonly holds: (value: unknown) => boolean; readonly wanted: string }>> = {
  pooling: { holds: (value) => poolings.some((each) => each === value), wanted: `one of ${poolings.join(', ')}` },
  max_tokens: {
    holds: (value) => Number.isInteger(value) && Number(value) >= 8 && Number(value) <= mostTokens,
    wanted: `a whole number from 8 to ${mostTokens}`,
  },
  query_prefix: { holds: isText, wanted: 'a string' },
  document_prefix: { holds: isText, wanted: 'a string' },
};

function checkOwn(folder: string, value: Json): Own {
  for (const [name, found] of Object.entries(value)) {
    const check = ownChecks[name];
    const known = Object.keys(ownChecks).join(', ');
    if (check === undefined)
      throw new OperatorError(`${ownFile} in ${folder}: "${name}" is not a known member. Allowed: ${known}.`);
    if (!check.holds(found)) {
      throw new OperatorError(
        `${ownFile} in ${folder}: "${name}" must be ${check.wanted}; received ${JSON.stringify(found)}.`,
      );
    }
  }
  return value as Own; // each field was checked
}

function readPooling(folder: string, config: Json | null): Pooling {
  if (config === null || config.pooling_mode_mean_tokens === true) return 'mean';
  if (config.pooling_mode_cls_token === true) return 'cls';
  if (config.pooling_mode_lasttoken === true) return 'last';
  throw new OperatorError(
    `The model folder ${folder} uses a pooling method that is not supported. Supported: ${poolings.join(', ')}. If one of them suits the model, set "pooling" in ${ownFile}.`,
  );
}

/** Returns the token limit of the model. A tokenizer without a limit states 10^30. */
async function readMaxTokens(folder: string, tokenizerConfig: Json | null): Promise<number> {
  const sources = [
    (await readJson(folder, 'sentence_bert_config.json'))?.max_seq_length,
    tokenizerConfig?.model_max_length,
    (await readJson(folder, 'config.json'))?.max_position_embeddings,
  ];
  const usable = sources.find((value) => Number.isInteger(value) && Number(value) >= 8 && Number(value) <= 1_000_000);
  return Math.min(usable === undefined ? usualTokens : Number(usable), mostTokens);
}

function textOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Json)[name] : undefined; // an object has members
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}
