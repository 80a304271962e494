/** A model that `quartermaster embedding use` knows by its name. */
export interface RecommendedModel {
  readonly name: string;
  readonly languages: string;
  readonly licence: string;
  readonly dimensions: number;
  /** The path of the folder with the files, at a fixed revision, below the address of the hub or of a mirror of it. */
  readonly path: string;
  readonly files: readonly string[];
  /** The size of all files as the hub shows it, rounded to three digits. */
  readonly bytes: number;
  /** The content of `quartermaster.json` in the model folder, from the card of the model. */
  readonly settings: Readonly<Record<string, string | number>>;
}

export const hubUrl = 'https://huggingface.co';

/** The hosts to which the hub redirects downloads. Source: `.well-known/meta.json` of the hub, and the bridge of its new storage. */
export const hubDownloadHosts: readonly string[] = [
  'cdn-lfs.hf.co',
  'cdn-lfs-us-1.hf.co',
  'cdn-lfs-eu-1.hf.co',
  'transfer.xethub.hf.co',
  'transfer.xethub-eu.hf.co',
  'cas-bridge.xethub.hf.co',
  'aws.cdn.hf.co',
  'us.aws.cdn.hf.co',
  'us-east-1.aws.cdn.hf.co',
  'us-west-2.aws.cdn.hf.co',
  'eu-west-3.aws.cdn.hf.co',
  'ap-southeast-1.aws.cdn.hf.co',
  'us.gcp.cdn.hf.co',
  'us-east1.us.gcp.cdn.hf.co',
  'us-central1.us.gcp.cdn.hf.co',
  'us-west4.us.gcp.cdn.hf.co',
  'europe-west4.us.gcp.cdn.hf.co',
  'asia-southeast1.us.gcp.cdn.hf.co',
];

const megabyte = 1_000_000;
const e5 = { pooling: 'mean', max_tokens: 512, query_prefix: 'query: ', document_prefix: 'passage: ' };

/** Sizes, licences and dimensions are those of the pages of the models. The files themselves have not been downloaded. */
export const recommendedModels: readonly RecommendedModel[] = [
  {
    name: 'multilingual-e5-small',
    languages: '94 languages',
    licence: 'MIT',
    dimensions: 384,
    path: 'intfloat/multilingual-e5-small/resolve/919cfbe11fbf4f1b9bb321007c46c14feaf84227/onnx',
    files: ['model.onnx', 'tokenizer.json', 'tokenizer_config.json', 'config.json'],
    bytes: 487 * megabyte,
    settings: e5,
  },
  {
    name: 'multilingual-e5-base',
    languages: '94 languages',
    licence: 'MIT',
    dimensions: 768,
    path: 'intfloat/multilingual-e5-base/resolve/87d669548d594592503080633368862e3ca5d8ad/onnx',
    files: ['model.onnx', 'tokenizer.json', 'tokenizer_config.json', 'config.json'],
    bytes: 1130 * megabyte,
    settings: e5,
  },
  {
    name: 'all-MiniLM-L6-v2',
    languages: 'English',
    licence: 'Apache-2.0',
    dimensions: 384,
    path: 'sentence-transformers/all-MiniLM-L6-v2/resolve/c9745ed1d9f207416be6d2e6f8de32d1f16199bf',
    files: ['onnx/model.onnx', 'tokenizer.json', 'tokenizer_config.json', 'config.json'],
    bytes: 91 * megabyte,
    settings: { pooling: 'mean', max_tokens: 256 },
  },
];
