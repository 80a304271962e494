import { maxInputMembers } from '@quartermaster/contract';
import { maxProfiles } from '../access/credential-profiles/credential-profiles.ts';
import { answerReserve } from '../artifacts/add-artifacts.ts';
import { credentialLimits } from '../catalogue/credential-bounds.ts';
import { maxQuestionCharacters } from '../catalogue/plugin-search.ts';
import { checkLimits } from '../catalogue/schema/check-budget.ts';
import { maxAnswerDepth } from '../execution/declarative/body.ts';
import { fileInputLimits } from '../execution/file-inputs/file-inputs.ts';
import { maxOutputParts } from '../execution/json-bounds.ts';
import { outputPartLimits } from '../execution/output-parts/output-part.ts';
import { progressLimits } from '../execution/remote-tools/read-progress.ts';
import { maxStoredBytes } from '../execution/run-once.ts';
import { maxLargeAnswerBytes, maxLargeAnswersAtOnce } from '../execution/unused-answers/large-answers.ts';
import { pictureLimits } from '../pictures/picture-limits.ts';
import { asyncRunDefaults } from '../runs/async-runs.ts';
import { type Limit, refused } from './limit.ts';
import { mcpLimits } from './mcp-limits.ts';

/** Limits of the plugins address: credentials, runs and their results. */
export const pluginLimits = {
  credential_members: {
    bounds: 'the credentials of one request or profile',
    unit: 'members',
    value: () => credentialLimits.members,
    above: refused('REQUEST_VALIDATION_ERROR'),
  },
  credential_value_bytes: {
    bounds: 'one credential',
    unit: 'bytes',
    value: () => credentialLimits.valueBytes,
    above: refused('REQUEST_VALIDATION_ERROR'),
  },
  credential_bytes: {
    bounds: 'the names and values of all credentials of one request or profile',
    unit: 'bytes',
    value: () => credentialLimits.totalBytes,
    above: refused('REQUEST_VALIDATION_ERROR'),
  },
  profiles_of_project: {
    bounds: 'credential profiles of one project',
    unit: 'items',
    value: () => maxProfiles,
    above: refused('RESOURCE_LIMIT_REACHED'),
  },
  input_members: {
    bounds: '`input_params` at its top level',
    unit: 'members',
    value: () => maxInputMembers,
    above: refused('REQUEST_VALIDATION_ERROR'),
  },
  pattern_characters: {
    bounds:
      'one text of an input or output to which a `pattern` or `format` applies; a `pattern` like that of base64 has no bound',
    unit: 'characters',
    value: () => checkLimits.patternText,
    above: 'An input gets REQUEST_VALIDATION_ERROR; an output is returned with a violation.',
  },
  pattern_characters_of_value: {
    bounds: 'all such texts of one input or output, each counted once for each pattern',
    unit: 'characters',
    value: () => checkLimits.patternTexts,
    above: 'An input gets REQUEST_VALIDATION_ERROR; an output is returned with a violation.',
  },
  compared_characters: {
    bounds: 'the items of arrays with `uniqueItems` in one input or output, as JSON',
    unit: 'characters',
    value: () => checkLimits.comparedItems,
    above: 'An input gets REQUEST_VALIDATION_ERROR; an output is returned with a violation.',
  },
  answer_depth: {
    bounds: 'nested arrays and objects in a JSON answer of the third party that a plugin calls',
    unit: 'levels',
    value: () => maxAnswerDepth,
    above: refused('PROVIDER_ERROR'),
  },
  large_answer_bytes: {
    bounds: 'the answer of a third party that is stored although it is larger than the bundle allows',
    unit: 'bytes',
    value: () => maxLargeAnswerBytes,
    above: 'The beginning of the answer is stored, and the error says so.',
  },
  large_answers_of_process: {
    bounds: 'such answers that all runs of a process receive at the same time',
    unit: 'items',
    value: () => maxLargeAnswersAtOnce,
    above: 'Further answers are not stored, and the error says so.',
  },
  answer_reserve_bytes: {
    bounds: 'answers of failed runs that are stored although the project has used up its bytes, above those bytes',
    unit: 'bytes',
    value: () => answerReserve.bytes,
    above: 'The answer is not stored, and the error says so.',
  },
  answer_reserve_artifacts: {
    bounds: 'such answers above the number of files or artifacts of the project',
    unit: 'items',
    value: () => answerReserve.artifacts,
    above: 'The answer is not stored, and the error says so.',
  },
  output_parts: {
    bounds: 'values and names of members in the output of a run',
    unit: 'items',
    value: () => maxOutputParts,
    above: 'The output is stored whole as an artifact.',
  },
  inline_output_bytes: {
    bounds: 'the output of a run, as JSON, that is returned unchanged',
    unit: 'bytes',
    value: () => outputPartLimits.inlineBytes,
    above: 'Media and large texts, or the whole output, are stored as artifacts.',
  },
  output_bytes: {
    bounds: 'the output of a run as JSON',
    unit: 'bytes',
    value: () => outputPartLimits.outputBytes,
    above: refused('PLUGIN_FAILED'),
  },
  artifacts_of_run: {
    bounds: 'stored parts of one output',
    unit: 'items',
    value: () => outputPartLimits.parts,
    above: 'Further parts stay in the output; an output that is still large is stored whole.',
  },
  remote_contents: {
    bounds: 'contents that a tool of an imported MCP server returns beside a structured output',
    unit: 'items',
    value: () => outputPartLimits.contents,
    above: 'A note replaces further contents.',
  },
  remote_content_bytes: {
    bounds: 'the contents that a tool of an imported MCP server returns beside a structured output, together, as JSON',
    unit: 'bytes',
    value: () => outputPartLimits.inlineBytes,
    above: 'A note replaces each content that does not fit.',
  },
  progress_events: {
    bounds: 'events of an imported MCP server that are read for the progress of one call',
    unit: 'items',
    value: () => progressLimits.events,
    above: 'Later events report no progress. The result is still read.',
  },
  progress_event_characters: {
    bounds: 'one event of an imported MCP server that reports progress',
    unit: 'characters',
    value: () => progressLimits.event,
    above: 'The event is skipped.',
  },
  progress_message_characters: {
    bounds: 'the message of a progress report of an imported MCP server',
    unit: 'characters',
    value: () => progressLimits.message,
    above: 'The message is cut.',
  },
  artifacts_of_project: {
    bounds: 'artifacts of one project',
    unit: 'items',
    value: (config) => config.artifacts.most,
    setting: 'MAX_ARTIFACTS',
    above: 'The output is returned unchanged, and nothing of it is stored.',
  },
  svg_bytes: {
    bounds: 'an SVG picture that is converted for a client of MCP',
    unit: 'bytes',
    value: () => pictureLimits.svgBytes,
    above: 'The result has only the link to the SVG.',
  },
  svg_side: {
    bounds: 'the longer side that an SVG picture declares, to be converted for a client of MCP',
    unit: 'pixels',
    value: () => pictureLimits.declaredSide,
    above: 'The result has only the link to the SVG.',
  },
  input_files: {
    bounds: 'files and artifacts that one input names',
    unit: 'items',
    value: () => fileInputLimits.references,
    above: refused('REQUEST_VALIDATION_ERROR'),
  },
  input_file_bytes: {
    bounds: 'the files and artifacts that one input names, together',
    unit: 'bytes',
    value: () => fileInputLimits.inputBytes,
    above: refused('FILE_TOO_LARGE'),
  },
  input_file_bytes_of_process: {
    bounds:
      'the files and artifacts that all runs of a process read into their inputs at the same time; a project alone has half, a key alone a quarter',
    unit: 'bytes',
    value: () => fileInputLimits.processBytes,
    above: refused('TOO_MANY_REQUESTS'),
  },
  kept_answer_bytes: {
    bounds: 'the answer that is kept for repetitions under an `Idempotency-Key`',
    unit: 'bytes',
    value: () => maxStoredBytes,
    above: 'The first response is returned; a repeated request gets 409 `DUPLICATE_OBJECT`.',
  },
  catalogue_question_characters: {
    bounds: '`q` of `GET /v1/plugins` and `GET /v1/bundles`',
    unit: 'characters',
    value: () => maxQuestionCharacters,
    above: refused('REQUEST_VALIDATION_ERROR'),
  },
  ...mcpLimits,
  runs_of_key: {
    bounds:
      'runs of one key at the same time, if no other key has any; a project alone, or all callers without a key, have twice as many',
    unit: 'items',
    value: (config) => config.maxRunsOfKey,
    setting: 'MAX_RUNS_OF_KEY',
    above: refused('TOO_MANY_REQUESTS'),
  },
  queued_runs: {
    bounds: 'asynchronous runs of one process, waiting or running',
    unit: 'items',
    value: () => asyncRunDefaults.maxAccepted,
    above: refused('TOO_MANY_REQUESTS'),
  },
  queued_runs_of_project: {
    bounds: 'asynchronous runs of one project, or of all callers without a key, if no other project has any',
    unit: 'items',
    value: () => asyncRunDefaults.maxAccepted / 2,
    above: refused('TOO_MANY_REQUESTS'),
  },
  queued_runs_of_key: {
    bounds: 'asynchronous runs of one key, if no other key has any',
    unit: 'items',
    value: () => asyncRunDefaults.maxAccepted / 4,
    above: refused('TOO_MANY_REQUESTS'),
  },
  queued_run_characters: {
    bounds: 'the requests of all asynchronous runs that wait or run; a project alone takes half, a key alone a quarter',
    unit: 'characters',
    value: () => asyncRunDefaults.maxSize,
    above: refused('TOO_MANY_REQUESTS'),
  },
  run_records: {
    bounds: 'records of runs of one project',
    unit: 'items',
    value: (config) => config.runRetention.most,
    setting: 'MAX_RUNS',
    above: 'The oldest are deleted.',
  },
  kept_answers_of_project: {
    bounds: 'the answers of runs of one project that are kept for an `Idempotency-Key`',
    unit: 'bytes',
    value: (config) => config.maxKeptAnswerBytes,
    setting: 'KEPT_ANSWERS_MB',
    above: 'The answer is not kept: a repetition is 409 `DUPLICATE_OBJECT`.',
  },
  run_result_bytes: {
    bounds: 'the stored results of all asynchronous runs together',
    unit: 'bytes',
    value: (config) => config.runRetention.resultBytes,
    setting: 'RUN_RESULTS_MB',
    above: 'The oldest are deleted, of the projects that have most.',
  },
} as const satisfies Record<string, Limit>;
