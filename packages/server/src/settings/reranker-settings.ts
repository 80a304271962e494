import type { Secret } from '../kernel/secret.ts';
import type { Setting } from './setting.ts';
import { anyText, isPlainUrl, oneOf, wholeNumber } from './setting-checks.ts';

/** The providers, whose APIs `http-reranker.ts` describes. */
export const rerankerProviderNames = ['cohere', 'jina'] as const;

/** The service that sorts the results of questions again. */
export const rerankerSettings = {
  RERANKER_PROVIDER: {
    description:
      'Sort the best results of questions that ask for it with: `none`, `cohere`, `jina`, or a service with the `/rerank` of one of them. Question and texts are sent to it',
    default: 'none',
    check: oneOf(['none', ...rerankerProviderNames]),
  },
  RERANKER_URL: {
    description:
      'Send requests to this base URL of the service, without `/rerank`. Private addresses are allowed. Unset: the address that the provider documents',
    default: null,
    check: (text) =>
      /^https?:\/\//.test(text) && isPlainUrl(text) ? null : 'must be an http or https URL without query',
  },
  RERANKER_MODEL: {
    description: 'Use this model of the service, such as `rerank-v3.5`. Required with a provider',
    default: null,
    check: anyText,
  },
  RERANKER_KEY: {
    description: 'Send this key to the service, as a bearer token. Unset: no key',
    default: null,
    check: anyText,
    secret: true,
  },
  RERANKER_KEY_FILE: {
    description: 'Read RERANKER_KEY from this file at start',
    default: null,
    check: anyText,
  },
  RERANKER_SECONDS: {
    description: 'Wait for the service for at most this many seconds. Then the answer has the order of the search',
    default: '5',
    check: wholeNumber(1, 60),
  },
} as const satisfies Record<string, Setting>;

export interface RerankerConfig {
  readonly provider: (typeof rerankerProviderNames)[number];
  /** Null for what the provider documents. */
  readonly url: string | null;
  readonly model: string;
  readonly key: Secret | null;
  readonly seconds: number;
}

type RerankerSetting = keyof typeof rerankerSettings;

interface RerankerReader {
  text(key: RerankerSetting): string;
  number(key: RerankerSetting): number;
  optional<T>(key: RerankerSetting, parse: (value: string) => T): T | null;
  secret(key: RerankerSetting, fileKey: RerankerSetting): Secret | null;
}

/** Returns null when there is no reranker. Adds an error when its model is missing. */
export function readReranker(
  { text, number, optional, secret }: RerankerReader,
  prefix: string,
  errors: string[],
): RerankerConfig | null {
  const provider = text('RERANKER_PROVIDER') as 'none' | RerankerConfig['provider']; // checked against its list
  const model = optional('RERANKER_MODEL', String);
  const key = secret('RERANKER_KEY', 'RERANKER_KEY_FILE');
  if (provider === 'none') return null;
  if (model === null) errors.push(`${prefix}RERANKER_PROVIDER is ${provider}: set ${prefix}RERANKER_MODEL, too.`);
  return {
    provider,
    url: optional('RERANKER_URL', String),
    model: model ?? '',
    key,
    seconds: number('RERANKER_SECONDS'),
  };
}
