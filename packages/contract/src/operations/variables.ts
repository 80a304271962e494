/** The shell variables of examples. `value` replaces them in JSON examples; `meaning` explains where readers find their own value. */
export const exampleVariables = {
  FILES: { value: 'http://127.0.0.1:8080', meaning: 'the files address' },
  PLUGINS: { value: 'http://127.0.0.1:8081', meaning: 'the plugins address' },
  QM_API_KEY: { value: 'qmk_…', meaning: 'an API key; the first one is in data/first-key' },
  FILE_ID: { value: 'file0mwq7q9i9cxe043vsar5', meaning: '`file_id` of uploadFile or listFiles' },
  SHEET_ID: { value: 'file0mwq7qa24t81zk6y0dpm', meaning: '`file_id` of an upload with the purpose qa_record_file' },
  COLLECTION_ID: {
    value: 'coll0mwq7qb63hv9r25gq1xw',
    meaning: '`collection_id` of createCollection or listCollections',
  },
  QA_COLLECTION_ID: { value: 'coll0mwq7qbw58n0cj7tz4ks', meaning: '`collection_id` of a collection of type qa' },
  RECORD_ID: { value: 'rcrd0mwq7qcl1yk4m93eb8fu', meaning: '`record_id` of createRecord or listRecords' },
  SHEET_RECORD_ID: { value: 'rcrd0mwq7qd09a6ws5h2xvlo', meaning: '`record_id` of a record of type qa_sheet' },
  PDF_RECORD_ID: { value: 'rcrd0mwq7qd5j2c8v6n1rtya', meaning: '`record_id` of a record of a PDF file' },
  PDF_CHUNK_ID: { value: 'chnk0mwq7qdt4w1g7s9zk3ob', meaning: '`chunk_id` of a chunk of a PDF file' },
  CHUNK_ID: { value: 'chnk0mwq7qdr7u3f8p0ni6tj', meaning: '`chunk_id` of createChunk, listChunks or queryChunks' },
  PROJECT_ID: { value: 'proj0mwq7qe92rz5d1vkc40m', meaning: '`project_id` of listProjects' },
  OTHER_PROJECT_ID: { value: 'proj0mwq7qea4hs9d2fk61vw', meaning: '`project_id` of createProject' },
  KEY_ID: { value: 'apik0mwq7qek6bt2w8xg39hy', meaning: '`key_id` of createKey or listKeys' },
  RATE_LIMIT_ID: {
    value: 'rate0mwq7qez5n2v8c4xj71tb',
    meaning: '`rate_limit_id` of createRateLimit or listRateLimits',
  },
  RUN_ID: { value: 'xrun0mwq7qf8o4j1qs7ae5zn', meaning: '`run_id` of execute or listRuns' },
  ARTIFACT_ID: { value: 'arti0mwq7qfp2x6d8tb1hj93', meaning: '`artifact_id` in the result of execute' },
  ARTIFACT_EXPIRES: { value: '1764028800000', meaning: '`expires` of the query of `file_url`' },
  ARTIFACT_SIGNATURE: { value: '9f86d081884c7d659a2feaa0c55ad015', meaning: '`signature` of the query of `file_url`' },
  APPLICATION_ID: { value: 'gran0mwq7qg2h5x8t3kd7rv1w', meaning: '`application_id` of listApplications' },
  SESSION_ID: { value: 'sess0mwq7qfv3i9c6lu0mk2d', meaning: '`session_id` of listSessions' },
  CONSOLE_TOKEN: { value: 'v3Jw…', meaning: '`console_token` of setUp, signIn or changePassword' },
  SETUP_TOKEN: { value: 'p9Xk…', meaning: 'the text after # of the setup link' },
  ADMIN_NAME: { value: 'Ada', meaning: 'the name of the administrator' },
  ADMIN_PASSWORD: { value: 'seven otters paint slowly', meaning: 'the password of the administrator' },
  NEW_PASSWORD: { value: 'nine herons wade at noon', meaning: 'another password' },
  OPEN_WEATHER_API_KEY: { value: '0f3c…', meaning: 'a key of openweathermap.org' },
} as const satisfies Readonly<Record<string, { readonly value: string; readonly meaning: string }>>;

export type ExampleVariable = keyof typeof exampleVariables;
