import type { Random } from '../support/random.ts';
import { asciiRuns, brokenJson, coreAmplifiers, jsonAmplifiers } from './amplifiers.ts';
import { createChooser } from './choose.ts';
import { type HoldCase, payloadBytes } from './hold-case.ts';
import { headerText } from './operation-cases.ts';

type Ways = ReadonlyArray<readonly [place: string, body: (value: string) => string]>;

const call = (members: string) => `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{${members}}}`;

/** The places of a message that accept a value. Each value is JSON. */
const places: Ways = [
  ['message', (value) => value],
  ['id', (value) => `{"jsonrpc":"2.0","id":${value},"method":"ping"}`],
  ['method', (value) => `{"jsonrpc":"2.0","id":1,"method":${value}}`],
  ['jsonrpc', (value) => `{"jsonrpc":${value},"id":1,"method":"ping"}`],
  ['params', (value) => `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":${value}}`],
  ['cursor', (value) => `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"cursor":${value}}}`],
  ['name', (value) => call(`"name":${value},"arguments":{}`)],
  ['arguments', (value) => call(`"name":"calculator__evaluate","arguments":${value}`)],
  ['an argument', (value) => call(`"name":"calculator__evaluate","arguments":{"expression":${value}}`)],
  ['_meta', (value) => call(`"name":"calculator__evaluate","arguments":{"expression":"1"},"_meta":${value}`)],
  ['progressToken', (value) => call(`"name":"calculator__evaluate","arguments":{},"_meta":{"progressToken":${value}}`)],
  ['an unknown member', (value) => `{"jsonrpc":"2.0","id":1,"method":"ping","extra":${value}}`],
  ['clientInfo', (value) => initialise(`"capabilities":{},"clientInfo":${value}`)],
  ['capabilities', (value) => initialise(`"capabilities":${value},"clientInfo":{"name":"a","version":"1"}`)],
];

function initialise(members: string): string {
  return `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25",${members}}}`;
}

const ping = '{"jsonrpc":"2.0","id":1,"method":"ping"}';
const calculate = call('"name":"calculator__evaluate","arguments":{"expression":"1"}');
const batches = [
  ping,
  '{}',
  '1',
  '{"jsonrpc":"2.0","method":"notifications/initialized"}',
  calculate,
  '{"jsonrpc":"2.0","id":1,"method":"tools/list"}',
];
const headers = [
  'mcp-session-id',
  'mcp-protocol-version',
  'last-event-id',
  'x-credential-key',
  'x-plugin-credentials',
  'x-plugin-profile',
  'accept',
];

interface Options {
  readonly slice: boolean;
  readonly random: Random;
}

/** Messages of the Model Context Protocol: each place of a message, batches, and headers. */
export function mcpCases({ slice, random }: Options): HoldCase[] {
  const some = createChooser({ slice, random });
  const texts = [...coreAmplifiers, ...asciiRuns];
  const inPlaces = places.flatMap(([place, body]) => [
    ...some(texts, 5).map((each) =>
      message(`${place}: ${each.name}`, () => body(JSON.stringify(each.text(payloadBytes / 8)))),
    ),
    ...some(texts, 3).map((each) =>
      message(`${place}, a name: ${each.name}`, () => body(`{${JSON.stringify(each.text(payloadBytes / 8))}:1}`)),
    ),
    ...some(jsonAmplifiers, 5).map((each) =>
      message(`${place}: ${each.name}`, () => body(each.text(payloadBytes - 1_024))),
    ),
  ]);
  return [
    ...inPlaces,
    ...brokenJson.map((each) => message(`message: ${each.name}`, () => each.text(payloadBytes))),
    ...batches.map((each) =>
      message(
        `batch of ${each.slice(0, 60)}`,
        () =>
          `[${Array(Math.floor((payloadBytes - 2) / (each.length + 1)))
            .fill(each)
            .join(',')}]`,
      ),
    ),
    ...headers.flatMap((name) =>
      some(texts, 4).map((each) =>
        message(`${name}: ${each.name}`, () => calculate, { [name]: headerText(each.text(12_000)) }),
      ),
    ),
  ];
}

function message(payload: string, body: () => string, more: Record<string, string> = {}): HoldCase {
  return {
    target: 'plugins POST /mcp',
    payload,
    send: ({ sender }) =>
      sender.send({
        ...{ address: 'plugins', method: 'POST', path: '/mcp', body: body() },
        headers: { Accept: 'application/json, text/event-stream', 'MCP-Protocol-Version': '2025-11-25', ...more },
      }),
  };
}
