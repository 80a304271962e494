/**
 * What the documentation of each API asks of a request, written down apart from the bundles: the tests hold what a
 * bundle sends against it.
 */
export interface DocumentedRequest {
  readonly path: string;
  /** Names and values, exactly these. */
  readonly query: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
}

/** By bundle; each value is a credential the tests send. */
export const credentials: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  exchangerate_api: { EXCHANGERATE_API_API_KEY: 'c0ffee0123456789abcdef01' },
  github: { GITHUB_API_KEY: 'github_pat_11AAAAAAA0abcdefghij' },
  google_search: {
    GOOGLE_CUSTOM_SEARCH_API_KEY: 'AIzaSyA-0123456789_abcdefghijklmnopqrs',
    GOOGLE_CUSTOM_SEARCH_ENGINE_ID: '017576662512468239146:omuauf_lfve',
  },
  open_weather: { OPEN_WEATHER_API_KEY: '0123456789abcdef0123456789abcdef' },
};

const oneCall = { lat: '33.44', lon: '-94.04', lang: 'en', units: 'metric', appid: '0123456789abcdef0123456789abcdef' };
const googleKeys = { key: 'AIzaSyA-0123456789_abcdefghijklmnopqrs', cx: '017576662512468239146:omuauf_lfve' };
const githubHeaders = {
  authorization: 'Bearer github_pat_11AAAAAAA0abcdefghij',
  accept: 'application/vnd.github+json',
  'x-github-api-version': '2022-11-28',
};
const ratesPath = '/v6/c0ffee0123456789abcdef01';

/** By `bundle/plugin`, one for each example in order. */
export const documentedRequests: Readonly<Record<string, readonly DocumentedRequest[]>> = {
  'arxiv_search/arxiv_search': [
    {
      path: '/api/query',
      query: {
        search_query: 'all:electron',
        start: '0',
        max_results: '1',
        sortBy: 'relevance',
        sortOrder: 'descending',
      },
    },
  ],
  'exchangerate_api/get_exchange_rate': [{ path: `${ratesPath}/pair/EUR/GBP`, query: {} }],
  'exchangerate_api/get_historical_exchange_rate': [{ path: `${ratesPath}/history/USD/2015/2/22`, query: {} }],
  'exchangerate_api/list_exchange_rates': [{ path: `${ratesPath}/latest/USD`, query: {} }],
  'github/search_repositories': [
    {
      path: '/search/repositories',
      query: { q: 'tetris language:assembly', sort: 'stars', order: 'desc', per_page: '1', page: '1' },
      headers: githubHeaders,
    },
  ],
  'google_search/web_search': [
    { path: '/customsearch/v1', query: { ...googleKeys, q: 'lectures', num: '2', start: '1' } },
    { path: '/customsearch/v1', query: { ...googleKeys, q: 'site:example.invalid nothing', num: '10', start: '1' } },
  ],
  'open_weather/get_current_weather': [
    { path: '/data/3.0/onecall', query: { ...oneCall, exclude: 'minutely,hourly,daily,alerts' } },
  ],
  'open_weather/get_daily_forecast': [
    { path: '/data/3.0/onecall', query: { ...oneCall, exclude: 'current,minutely,hourly,alerts' } },
  ],
  'open_weather/get_hourly_forecast': [
    { path: '/data/3.0/onecall', query: { ...oneCall, exclude: 'current,minutely,daily,alerts' } },
  ],
  'stack_overflow/stack_overflow_search': [
    {
      path: '/2.3/search/advanced',
      query: {
        site: 'stackoverflow',
        title: 'sorted array',
        tagged: 'java;c++',
        sort: 'votes',
        order: 'desc',
        page: '1',
        pagesize: '2',
      },
    },
  ],
  'wikipedia/wikipedia_search': [{ path: '/w/rest.php/v1/search/page', query: { q: 'earth', limit: '2' } }],
};

export interface DocumentedVerification {
  readonly request: DocumentedRequest;
  /** A file of the bundle that the API answers when the credentials are good. */
  readonly accepted: string;
  /** … and when they are bad, with the status that comes with it. */
  readonly refused: string;
  readonly refusedStatus: number;
}

export const documentedVerifications: Readonly<Record<string, DocumentedVerification>> = {
  exchangerate_api: {
    request: { path: `${ratesPath}/quota`, query: {} },
    accepted: 'fixtures/quota.json',
    refused: 'fixtures/refused.json',
    refusedStatus: 403,
  },
  github: {
    request: { path: '/rate_limit', query: {}, headers: githubHeaders },
    accepted: 'fixtures/search.json',
    refused: 'fixtures/refused.json',
    refusedStatus: 401,
  },
  google_search: {
    request: { path: '/customsearch/v1', query: { ...googleKeys, q: 'test', num: '1', fields: 'kind' } },
    accepted: 'fixtures/search.json',
    refused: 'fixtures/refused.json',
    refusedStatus: 400,
  },
  open_weather: {
    request: {
      path: '/data/3.0/onecall',
      query: { lat: '0', lon: '0', exclude: 'minutely,hourly,daily,alerts', appid: oneCall.appid },
    },
    accepted: 'fixtures/current.json',
    refused: 'fixtures/refused.json',
    refusedStatus: 401,
  },
};
