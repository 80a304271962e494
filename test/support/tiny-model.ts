import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/*
 * A model of minimal size: a table of one vector per word. It is written as the protobuf messages of onnx.proto: a
 * ModelProto with one node, Gather(table, input_ids), whose output is the vectors of the tokens.
 */

export type TinyVectors = Readonly<Record<string, readonly number[]>>;

export interface TinyModel {
  /** Vectors of equal length. Words that are not in the model get zeros. */
  readonly vectors: TinyVectors;
  /** Additional inputs that the model requires and ignores. */
  readonly moreInputs?: readonly string[];
  /** Additional files: path and content, written as JSON. */
  readonly files?: Readonly<Record<string, unknown>>;
}

const specials = ['[PAD]', '[UNK]', '[CLS]', '[SEP]'];

export async function writeTinyModel(
  folder: string,
  { vectors, moreInputs = [], files = {} }: TinyModel,
): Promise<void> {
  const words = [...specials, ...Object.keys(vectors).filter((word) => !specials.includes(word))];
  const dimensions = Object.values(vectors)[0]?.length ?? 0;
  const table = Float32Array.from(words.flatMap((word) => vectors[word] ?? Array<number>(dimensions).fill(0)));
  await mkdir(folder, { recursive: true });
  const model = modelProto(table, [words.length, dimensions], ['attention_mask', ...moreInputs]);
  await writeFile(join(folder, 'model.onnx'), model);
  await writeFile(join(folder, 'tokenizer.json'), JSON.stringify(tokenizer(words)));
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), typeof content === 'string' ? content : JSON.stringify(content));
  }
}

/** Splits at blanks, converts to lower case and adds the frame of BERT. */
function tokenizer(words: readonly string[]) {
  const idOf = (word: string) => words.indexOf(word);
  const added = specials.map((content) => ({
    id: idOf(content),
    content,
    single_word: false,
    lstrip: false,
    rstrip: false,
    normalized: false,
    special: true,
  }));
  const special = (content: string) => ({ id: content, ids: [idOf(content)], tokens: [content] });
  return {
    version: '1.0',
    truncation: null,
    padding: null,
    added_tokens: added,
    normalizer: { type: 'Lowercase' },
    pre_tokenizer: { type: 'Whitespace' },
    post_processor: {
      type: 'TemplateProcessing',
      single: [
        { SpecialToken: { id: '[CLS]', type_id: 0 } },
        { Sequence: { id: 'A', type_id: 0 } },
        { SpecialToken: { id: '[SEP]', type_id: 0 } },
      ],
      pair: [],
      special_tokens: { '[CLS]': special('[CLS]'), '[SEP]': special('[SEP]') },
    },
    decoder: null,
    model: { type: 'WordLevel', vocab: Object.fromEntries(words.map((word, id) => [word, id])), unk_token: '[UNK]' },
  };
}

const float = 1;
const int64 = 7;

function modelProto(table: Float32Array, dims: readonly number[], unused: readonly string[]): Buffer {
  const node = Buffer.concat([
    bytes(1, 'table'),
    bytes(1, 'input_ids'),
    bytes(2, 'last_hidden_state'),
    bytes(4, 'Gather'),
  ]);
  const raw = Buffer.from(table.buffer);
  const tensor = Buffer.concat([
    ...dims.map((dim) => whole(1, dim)),
    whole(2, float),
    bytes(8, 'table'),
    bytes(9, raw),
  ]);
  const graph = Buffer.concat([
    bytes(1, node),
    bytes(2, 'tiny'),
    bytes(5, tensor),
    ...['input_ids', ...unused].map((name) => bytes(11, valueInfo(name, int64, ['batch', 'length']))),
    bytes(12, valueInfo('last_hidden_state', float, ['batch', 'length', dims[1] ?? 0])),
  ]);
  const opset = Buffer.concat([bytes(1, ''), whole(2, 13)]);
  return Buffer.concat([whole(1, 8), bytes(7, graph), bytes(8, opset)]);
}

function valueInfo(name: string, type: number, shape: ReadonlyArray<string | number>): Buffer {
  const dims = shape.map((dim) => bytes(1, typeof dim === 'number' ? whole(1, dim) : bytes(2, dim)));
  const tensorType = Buffer.concat([whole(1, type), bytes(2, Buffer.concat(dims))]);
  return Buffer.concat([bytes(1, name), bytes(2, bytes(1, tensorType))]);
}

function varint(value: number): Buffer {
  const out: number[] = [];
  for (let left = value; ; left = Math.floor(left / 128)) {
    if (left < 128) return Buffer.from([...out, left]);
    out.push((left % 128) + 128);
  }
}
const whole = (field: number, value: number) => Buffer.concat([varint(field * 8), varint(value)]);
function bytes(field: number, content: string | Buffer): Buffer {
  const buffer = Buffer.from(content);
  return Buffer.concat([varint(field * 8 + 2), varint(buffer.length), buffer]);
}
