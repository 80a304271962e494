import { Type } from 'typebox';
import { Acknowledgement, IdempotencyKey, SuccessWithWarnings, Warnings } from '../envelope.ts';
import {
  ExecuteRequest,
  ExecuteResult,
  OptionsRequest,
  PluginIds,
  PropertyOptions,
  VerifyCredentialsRequest,
} from '../plugins.ts';
import { Run } from '../runs.ts';
import { describeOperations } from './operation.ts';

const sum = {
  bundle_id: 'calculator',
  plugin_id: 'evaluate',
  input_params: { expression: '5**2+8/2-3' },
  credentials: {},
};
const weather = {
  bundle_id: 'open_weather',
  plugin_id: 'get_current_weather',
  input_params: { lat: 52.52, lon: 13.41 },
};
const credentials = { OPEN_WEATHER_API_KEY: '$OPEN_WEATHER_API_KEY' };

const idempotency =
  'With the header `Idempotency-Key`, a repetition by the same caller with the same key, credentials and input within 24 hours runs nothing and returns the stored result.';
const storedFiles =
  'An input that is base64 also takes `file:` and a `file_id`, or `artifact:` and an `artifact_id`, such as `"image_base64": "artifact:arti0mwq7qfp2x6d8tb1hj93"`; the key then also needs the scope `files:read`. Media and large parts of the output are stored, and `artifacts` lists each with a signed `file_url`.';
const failures =
  'Invalid input is 422, rejected credentials are 401 `CREDENTIALS_VALIDATION_ERROR`, a request that the third party rejects is 422 `PROVIDER_REJECTED`, its rate limit is 429 `PROVIDER_RATE_LIMITED`, its failure is 502 `PROVIDER_ERROR`, a time limit 504 `PLUGIN_TIMEOUT`, a full queue 429.';

export const executionOperations = describeOperations('execution', {
  execute: {
    summary: 'Run a plugin',
    description:
      '`bundle_id` and `plugin_id` name the plugin, or `tool_name`, the name of the tool that a model called. `credentials` are used for this run and not stored; `{"$profile": "NAME"}` uses those of a credential profile. ' +
      `With \`Prefer: respond-async\` the run is stored and answered with 202; follow it at \`/v1/runs\`. ${storedFiles} ${idempotency} ${failures}`,
    scope: 'plugins:read',
    headers: Type.Object({
      'idempotency-key': Type.Optional(IdempotencyKey),
      prefer: Type.Optional(
        Type.String({
          maxLength: 1024,
          description: '`respond-async`: the run is stored, answered with 202, and goes on by itself.',
        }),
      ),
    }),
    body: ExecuteRequest,
    response: { 200: SuccessWithWarnings(ExecuteResult), 202: SuccessWithWarnings(Run) },
    examples: {
      compute: { summary: 'Run a plugin that needs no credentials', body: sum },
      picture: {
        summary: 'Run a plugin whose output has pictures, which `artifacts` lists with their `file_url`',
        body: {
          bundle_id: 'qr_code_generator',
          plugin_id: 'generate_qr_code',
          input_params: { text: 'https://example.com/' },
          credentials: {},
        },
      },
      tool: {
        summary: 'Run the tool that a model called',
        body: { tool_name: 'calculator__evaluate', input_params: sum.input_params, credentials: {} },
      },
      credentials: { summary: 'Run a plugin with credentials', body: { ...weather, credentials } },
      profile: {
        summary: 'Run a plugin with a credential profile',
        body: { ...weather, credentials: { $profile: 'weather' } },
      },
      asynchronous: {
        summary: 'Start a run and get its result later',
        headers: { Prefer: 'respond-async', 'Idempotency-Key': 'order-4713' },
        body: sum,
      },
    },
  },
  executeDirectly: {
    summary: 'Run a plugin with its input as the body',
    description:
      "The request body is the input and the response body is the output, as in the bundle's OpenAPI document. Send credentials in `X-Plugin-Credentials` (base64url of a JSON object) or `X-Plugin-Profile` (the name of a credential profile). " +
      `The answer names the run in \`X-Run-Id\`. ${idempotency} ${failures}`,
    scope: 'plugins:read',
    params: PluginIds,
    headers: Type.Object({
      'idempotency-key': Type.Optional(IdempotencyKey),
      'x-plugin-credentials': Type.Optional(
        Type.String({ maxLength: 16_384, description: 'Credentials: base64url of the JSON object.' }),
      ),
      'x-plugin-profile': Type.Optional(
        Type.String({ maxLength: 256, description: 'Or the name of a credential profile.' }),
      ),
    }),
    body: ExecuteRequest.properties.input_params,
    response: { 200: Type.Unknown({ description: "The plugin's output, by its output_schema." }) },
    examples: {
      compute: {
        summary: 'Run a plugin that needs no credentials',
        path: { bundle_id: 'calculator', plugin_id: 'evaluate' },
        body: { expression: '5**2+8/2-3' },
      },
      profile: {
        summary: 'Run a plugin with a credential profile',
        path: { bundle_id: 'open_weather', plugin_id: 'get_current_weather' },
        headers: { 'X-Plugin-Profile': 'weather' },
        body: weather.input_params,
      },
    },
  },
  verifyCredentials: {
    summary: 'Verify credentials with the third party',
    description:
      'Makes a real call. The answer is 200, or 401 `CREDENTIALS_VALIDATION_ERROR` when the third party refuses the credentials.',
    scope: 'plugins',
    body: VerifyCredentialsRequest,
    response: { 200: Type.Object({ ...Acknowledgement.properties, ...Warnings }) },
    examples: { weather: { body: { bundle_id: 'open_weather', credentials } } },
  },
  listOptions: {
    summary: 'List the values that an input of a plugin can have',
    description:
      'For the inputs in `choices` of a plugin, whose values only the third party knows, such as the channels of an account. Send `value` of an option as the input. ' +
      'The request calls the third party with the credentials and counts like a run. Values that are not listed remain possible. Inputs whose schema has `enum` need no call.',
    scope: 'plugins:read',
    params: PluginIds,
    body: OptionsRequest,
    response: { 200: SuccessWithWarnings(PropertyOptions) },
    examples: {
      levels: {
        summary: 'List the values of an input',
        path: { bundle_id: 'qr_code_generator', plugin_id: 'generate_qr_code' },
        body: { property: 'error_correction', input_params: {}, credentials: {} },
      },
    },
  },
});
